"""The command `lodestore`, one word for each thing that is done on one machine: `lodestore --help` lists them.

Owns: arguments and the exit code. Guarantees: what is wrong with settings, an address or the store is one
line on standard error and exit code 1; wrong usage is exit code 2; standard output holds what the command is
for and nothing else. Gives up: options for settings. They are environment variables, the same here and in the
cloud.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from local_runner import proposal_commands, upkeep_commands
from local_runner.moving import commands as moving_commands
from lodestore.bootstrap import environment
from lodestore.domain.caller import Role
from lodestore.domain.limits import limits_table
from lodestore.errors import LodestoreError, SettingsError
from lodestore.ports.object_store import StoreUnavailable
from lodestore.settings import DEFAULT_TENANT, TENANT_PATTERN, is_tenant

if TYPE_CHECKING:
    from lodestore.services.rebuilding import Rebuilt

Variables = Mapping[str, str]

INTERRUPTED = 128 + 2

VARIABLES = """\
variables:
  HOST 127.0.0.1       address to listen on
  PORT 8765            port to listen on; 0 takes a free one
  DATA .lodestore      folder of the memories
  STORE file://DATA    or s3://bucket[/prefix]; the bucket must exist (AWS_ENDPOINT_URL_S3: elsewhere)
  TENANT default       tenant of requests that name none; empty: none
  AUTH open            open (loopback only) | keys | oauth | iam (docs/operations.md has their variables)
  EMBEDDINGS local     local | none | bedrock | openai (docs/embedders.md has their variables)
  EMBED_MODEL          with local: all-MiniLM-L6-v2 (default; English) | multilingual-e5-small
  INDEX_EVERY 1        seconds between runs of the indexer; 0: never
  SLEEP_EVERY 3600     seconds between runs of maintenance; 0: never
  FORGET_WINDOW 86400  seconds for which a forgotten memory can be restored, then its old versions go
  VECTOR_BUCKET        S3 Vectors bucket of tenants with more memories than VECTOR_INDEX_THRESHOLD (docs/vectors.md)
  VECTOR_TEXT 0        1: contents are stored and searched there, too
  PRUNE                JSON list of pruning policies (docs/maintenance.md); none by default
  SLEEP_OFF            steps of maintenance that are off, with blanks between; none by default
  TENANT_UPKEEP        JSON: tenant to {"prune": [...], "off": [...]}, in the place of PRUNE and SLEEP_OFF
  SLEEP_MODEL none     none | bedrock | openai: the language model of maintenance (docs/consolidation.md has the others)
  READ_ONLY 0          1: tools that write answer forbidden
  SECRETS redact       redact | refuse | allow: what happens to a credential in what is stored
  ENCRYPTION           AES256, or aws:kms with KMS_KEY: server-side encryption on S3
  PINNED_INSTRUCTIONS  TENANT:SOURCE,...: pinned memories of these sources go into the tenant's instructions
  ALLOWED_ORIGINS      browser origins that may call, with commas between
  CONVERSATION         over stdio: the conversation that HTTP names by X-Conversation-Id
"""


class Refused(Exception):
    """The command can't be carried out; the text says why, in one line."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit with its code."""
    parser = _parser()
    chosen = parser.parse_args(arguments)
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    for library in ("uvicorn", "watchfiles", "botocore", "boto3", "urllib3"):
        logging.getLogger(library).setLevel(logging.WARNING)
    try:
        run: Callable[[argparse.Namespace, Variables], None] = chosen.run
        run(chosen, environment())
    except (Refused, upkeep_commands.Refused, SettingsError, LodestoreError) as error:
        sys.exit(_said(str(error)))
    except StoreUnavailable:
        sys.exit(_said("the store does not answer; check STORE and DATA, and what the store itself says"))
    except BrokenPipeError:
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _said(line: str) -> int:
    print(f"lodestore: {line}", file=sys.stderr)
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lodestore",
        description="Long-term memory for AI agents, on one machine. Settings are environment variables.",
        epilog=VARIABLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    serve = commands.add_parser("serve", help="serve MCP over HTTP in the foreground until Ctrl-C")
    serve.set_defaults(run=_serve)

    stdio = commands.add_parser(
        "stdio", help="serve MCP over standard input and output; may share DATA with a server"
    )
    stdio.set_defaults(run=_stdio)

    key = commands.add_parser("key", help="print a new API key, valid at once for this DATA or STORE")
    key.add_argument(
        "--tenant", help="the tenant it is for, or several with commas between (default: TENANT)"
    )
    key.add_argument("--role", choices=[str(role) for role in Role], help="what it may do (default: ROLE)")
    key.set_defaults(run=_key)

    rebuild = commands.add_parser("rebuild", help="build a tenant's index anew from its memories")
    rebuild.add_argument("tenant", nargs="?", help="the tenant (default: TENANT)")
    rebuild.add_argument(
        "--dry-run", action="store_true", help="read and count, change nothing (or DRY_RUN=1)"
    )
    rebuild.set_defaults(run=_rebuild)

    upkeep_commands.add_to(commands)
    proposal_commands.add_to(commands)
    moving_commands.add_to(commands)

    limits = commands.add_parser("limits", help="print the limits as docs/limits.md has them")
    limits.set_defaults(run=_limits)

    demo = commands.add_parser("demo", help="show remember, recall, update and forget in a folder of its own")
    demo.set_defaults(run=_demo)
    return parser


def _serve(_chosen: argparse.Namespace, variables: Variables) -> None:
    from local_runner.function_table import UnknownHandler
    from local_runner.function_url import MalformedAnswer
    from local_runner.one_machine import run
    from local_runner.server import CannotBind

    try:
        run(variables)
    except CannotBind as error:
        raise Refused(str(error)) from error
    except MalformedAnswer as error:
        raise Refused(f"the http function gives no answer: {error}") from error
    except UnknownHandler as error:
        raise Refused(f"no function {error} is installed") from error


def _stdio(_chosen: argparse.Namespace, variables: Variables) -> None:
    from local_runner.one_machine import check_store
    from lodestore.bootstrap import build

    # Before the MCP SDK, whose import takes a second.
    lodestore = build(variables)
    for store in (lodestore.state_store, lodestore.index_store):
        check_store(store)
    from mcp_server import stdio

    stdio.run(variables)


def _key(chosen: argparse.Namespace, variables: Variables) -> None:
    from lodestore.bootstrap import build

    tenants = tuple(filter(None, (chosen.tenant or variables.get("TENANT", "")).split(",")))
    role = chosen.role or variables.get("ROLE", "")
    if not tenants:
        raise Refused("which tenant? make key TENANT=acme ROLE=writer")
    for tenant in tenants:
        if not is_tenant(tenant):
            raise Refused(f"TENANT must match {TENANT_PATTERN}, not {tenant!r}")
    if role not in list(Role):
        raise Refused(f"ROLE must be one of {' | '.join(Role)}, not {role!r}")
    # Several tenants are no default tenant; TENANT means something else here.
    lodestore = build({**variables, "TENANT": ""})
    print(lodestore.access.issue_key(tenants, Role(role)))


def _rebuild(chosen: argparse.Namespace, variables: Variables) -> None:
    from lodestore.bootstrap import build
    from lodestore.services.indexing import Contended

    tenant = chosen.tenant or variables.get("TENANT", DEFAULT_TENANT)
    if not is_tenant(tenant):
        raise Refused(
            f"which tenant? make rebuild TENANT=acme; it must match {TENANT_PATTERN}, not {tenant!r}"
        )
    asked = variables.get("DRY_RUN", "") or "0"
    if asked not in ("0", "1"):
        raise Refused(f"DRY_RUN must be one of 0 | 1, not {asked!r}")
    dry_run = chosen.dry_run or asked == "1"
    lodestore = build({**variables, "TENANT": ""})
    try:
        rebuilt = lodestore.rebuilding.run(tenant, dry_run=dry_run, progress=_rebuild_progress)
    except Contended:
        raise Refused("other runs changed the index at every try; nothing is lost, run it again") from None
    if not rebuilt.objects:
        # Most often a mistyped name or another DATA; a tenant that is really empty is no failure.
        print(
            f"lodestore: nothing is stored for the tenant {tenant!r} in this DATA or STORE", file=sys.stderr
        )
    print(json.dumps({"tenant": tenant, **asdict(rebuilt)}))


def _rebuild_progress(rebuilt: Rebuilt) -> None:
    print(f"lodestore: {rebuilt.objects:,} objects read", file=sys.stderr, flush=True)


def _limits(_chosen: argparse.Namespace, _variables: Variables) -> None:
    print(limits_table(), end="")


def _demo(_chosen: argparse.Namespace, variables: Variables) -> None:
    from local_runner import demo
    from local_runner.child_server import DidNotStart

    try:
        demo.run(variables)
    except (demo.DemoFailed, DidNotStart) as error:
        raise Refused(str(error)) from error


if __name__ == "__main__":
    main()
