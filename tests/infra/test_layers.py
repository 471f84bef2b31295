"""Layers: what is in them, that they fit, and that the same hashes give the same asset."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from infra.layers import (
    SDK_SERVICES,
    UNZIPPED_BYTES_MOST,
    BundlingFailed,
    Layer,
    Layers,
    check_size,
    compile_tree,
    interpreter_of,
    prune,
)
from infra.wheels import Target, requirements_for
from tests.infra.synthesised import assembly
from tests.structure.source_tree import CORE, ROOT

ARM = Target("arm64", "3.13")
ELF_MACHINE = {"arm64": 183, "x86_64": 62}


def test_all_layers_of_a_function_fit_with_the_embedding_model() -> None:
    layers = Layers(ROOT, ARM)
    held = [layers.libraries(name) for name in ("layer-core", "layer-mcp", "embed")] + [layers.code()]
    assert check_size("mcp_server", held) <= UNZIPPED_BYTES_MOST
    said = (assembly("dev") / "said.txt").read_text(encoding="utf-8")
    assert re.search(r"function mcp_server: layers of \d+ MB unzipped; Lambda takes 250", said)


def test_what_a_language_model_is_told_goes_into_the_layer_with_the_code() -> None:
    prompts = Path("lodestore", "services", "prompts")
    held = Layers(ROOT, ARM).code().folder / "python" / prompts
    source = CORE / prompts
    assert {path.name: path.read_bytes() for path in held.iterdir()} == {
        path.name: path.read_bytes() for path in source.iterdir()
    }


def test_layers_that_do_not_fit_stop_the_synth(tmp_path: Path) -> None:
    big = Layer(name="big", folder=tmp_path, digest="0", bytes=UNZIPPED_BYTES_MOST + 1, compiled=False)
    with pytest.raises(BundlingFailed, match=r"mcp_server hold 250 MB .*big 250"):
        check_size("mcp_server", [big])


@pytest.mark.parametrize("architecture", ["arm64", "x86_64"])
def test_every_shared_library_is_of_the_functions_processor(architecture: str) -> None:
    folder = Layers(ROOT, Target(architecture, "3.13")).libraries("layer-core").folder
    found = [path for path in folder.rglob("*.so*") if path.is_file()]
    assert found
    machines = {int.from_bytes(path.read_bytes()[18:20], "little") for path in found}
    assert machines == {ELF_MACHINE[architecture]}
    assert {path.name.split(".")[1] for path in found if "cpython" in path.name} <= {
        f"cpython-313-{Target(architecture, '3.13').machine}-linux-gnu"
    }


def test_the_sdk_keeps_the_data_of_the_services_that_are_called() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in (CORE / "lodestore/adapters").glob("*.py"))
    called = set(re.findall(r'create_client\(\s*"([a-z0-9-]+)"', sources))
    assert called
    assert called <= SDK_SERVICES
    data = Layers(ROOT, ARM).libraries("layer-core").folder / "python/botocore/data"
    assert {entry.name for entry in data.iterdir() if entry.is_dir()} == SDK_SERVICES
    assert (data / "endpoints.json").is_file()


def test_pruning_leaves_what_functions_import(tmp_path: Path) -> None:
    for name in (
        "numpy/core/tests/a.py",
        "numpy/linalg/b.py",
        "botocore/data/ec2/c.json",
        "botocore/data/s3/d.json",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    prune(tmp_path)
    left = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {"numpy/linalg/b.py", "botocore/data/s3/d.json"}


def test_the_same_hashes_give_the_same_asset_and_others_another(tmp_path: Path) -> None:
    requirements = tmp_path / "requirements"
    requirements.mkdir()
    (tmp_path / "layers/core/python/lodestore").mkdir(parents=True)
    source = tmp_path / "layers/core/python/lodestore/__init__.py"
    source.write_text("ONE = 1\n", encoding="utf-8")
    first = Layers(tmp_path, ARM).code()
    made = first.folder.stat().st_mtime_ns
    again = Layers(tmp_path, ARM).code()
    assert (again.digest, again.folder, again.folder.stat().st_mtime_ns) == (first.digest, first.folder, made)
    source.write_text("ONE = 2\n", encoding="utf-8")
    assert Layers(tmp_path, ARM).code().digest != first.digest
    assert Layers(tmp_path, Target("x86_64", "3.13")).code().digest != first.digest


def test_two_fresh_builds_of_the_same_hashes_are_the_same_to_the_byte(tmp_path: Path) -> None:
    target = Target("x86_64", f"{sys.version_info[0]}.{sys.version_info[1]}")
    pinned = requirements_for(ROOT / "requirements/layer-core.txt", target).splitlines()
    (wheel,) = [line for line in pinned if line.startswith("jmespath==")]
    digests, contents = [], []
    for name in ("one", "two"):
        root = tmp_path / name
        (root / "requirements").mkdir(parents=True)
        (root / "requirements/small.txt").write_text(f"{wheel}\n", encoding="utf-8")
        layer = Layers(root, target).libraries("small")
        files = sorted(path for path in layer.folder.rglob("*") if path.is_file())
        assert layer.compiled
        assert any(path.suffix == ".pyc" for path in files)
        digests.append(layer.digest)
        contents.append([(path.relative_to(layer.folder), path.read_bytes()) for path in files])
    assert digests[0] == digests[1]
    assert contents[0] == contents[1]


def test_without_the_interpreter_a_layer_ships_without_bytecode_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "layers/core/python/lodestore/__init__.py"
    source.parent.mkdir(parents=True)
    source.write_text("ONE = 1\n", encoding="utf-8")
    monkeypatch.setattr("infra.layers.interpreter_of", lambda _: None)
    bare = Layers(tmp_path, ARM).code()
    assert bare.note.endswith("no bytecode: no interpreter of that version here")
    assert not list(bare.folder.rglob("*.pyc"))
    monkeypatch.setattr("infra.layers.interpreter_of", lambda _: sys.executable)
    compiled = Layers(tmp_path, ARM).code()
    assert compiled.note.endswith("unzipped, bytecode")
    assert list(compiled.folder.rglob("*.pyc"))
    assert bare.digest != compiled.digest


def test_markers_are_read_for_the_functions_and_not_for_this_machine(tmp_path: Path) -> None:
    lock = tmp_path / "lock.txt"
    lock.write_text(
        "# a comment\n"
        "old==1 ; python_version < '3.12' \\\n    --hash=sha256:aa\n"
        "new==2 ; python_full_version >= '3.13' and sys_platform == 'linux' \\\n"
        "    --hash=sha256:bb \\\n    --hash=sha256:cc\n"
        "windows==3 ; sys_platform == 'win32' \\\n    --hash=sha256:dd\n"
        "plain==4 \\\n    --hash=sha256:ee\n    # via new\n",
        encoding="utf-8",
    )
    assert requirements_for(lock, ARM).splitlines() == [
        "new==2 --hash=sha256:bb --hash=sha256:cc",
        "plain==4 --hash=sha256:ee",
    ]
    assert requirements_for(lock, Target("arm64", "3.11")).startswith("old==1 --hash=sha256:aa\nplain")


def test_a_layer_that_pip_can_not_build_is_named_and_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements/layer-core.txt").write_text(
        "six==1.17.0 --hash=sha256:" + "0" * 64, encoding="utf-8"
    )
    with pytest.raises(BundlingFailed, match=r"layer layer-core for arm64, Python 3\.13"):
        Layers(tmp_path, ARM).libraries("layer-core")
    assert list((tmp_path / "build/layers").iterdir()) == []


def test_bytecode_serves_a_read_only_layer_where_the_interpreter_is_at_hand(tmp_path: Path) -> None:
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    interpreter = interpreter_of(version)
    assert interpreter is not None
    (tmp_path / "module.py").write_text("VALUE = 41\n", encoding="utf-8")
    compile_tree(interpreter, tmp_path)
    (tmp_path / "module.py").write_text("VALUE = 42\n", encoding="utf-8")
    script = "import module; print(module.VALUE)"
    answer = subprocess.run([interpreter, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert answer.stdout.strip() == "41", "the bytecode was not used"


def test_an_interpreter_of_another_version_is_not_taken() -> None:
    assert interpreter_of("3.2") is None
