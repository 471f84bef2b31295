"""BM25 of a row together with those around it in its session.

Owns: the window's counts and lengths. Guarantees: what `bm25` would give a document made of the row and the rows up to
REACH before and behind it, words as rare as among single rows; a session of one scores as by itself; computed
from the query's postings, shifted, so that its cost goes with them.
Gives up: which words a long neighbour begins with. Of one longer than MOST_OF_NEIGHBOUR terms, counts are taken in
proportion, so that it can't outweigh the row itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lodestore.retrieval.bm25 import DEFAULT_PARAMETERS, Bm25Parameters, saturation
from lodestore.retrieval.segment_search import Floats, Mask, Matches
from lodestore.retrieval.sessions import Positions, Sessions

REACH = 2
MOST_OF_NEIGHBOUR = 25


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """What no query changes of the windows of sessions.

    places   for each of all rows its place in the sessions, -1: none
    shares   of each place: how much of a count in it its neighbours take
    spans    of each place: the length of its window; `average` of all
    links    for each distance and place whether a row of the same session is there
    """

    places: Positions
    shares: Floats
    spans: Floats
    average: float
    links: Mapping[int, Mask]


def windows_of(sessions: Sessions, lengths: Floats) -> Windows:
    """The windows of the sessions; `lengths` of each place."""
    shares = MOST_OF_NEIGHBOUR / np.maximum(lengths, MOST_OF_NEIGHBOUR)
    spans = _window_lengths(lengths, shares, sessions)
    average = float(spans.mean()) if len(spans) else 0.0
    return Windows(sessions.places, shares, spans, average, _links(sessions))


def window_scores(
    matches: Matches, windows: Windows, parameters: Bm25Parameters = DEFAULT_PARAMETERS
) -> Floats:
    """The score of each place of the sessions."""
    places, shares, spans, links = windows.places, windows.shares, windows.spans, windows.links
    scores, best, counts = (np.zeros(len(spans)) for _ in range(3))
    postings, bounds = matches.postings, matches.postings.bounds
    for forms in matches.terms:
        touched: list[Positions] = []
        for form in forms:
            found = slice(bounds[form], bounds[form + 1])
            at = places[postings.rows[found]]
            if not len(at):
                continue
            near = _spread(counts, at, postings.counts[found].astype(np.float64), shares, links)
            weights = matches.idf[form] * saturation(counts[near], spans[near], windows.average, parameters)
            counts[near] = 0
            best[near] = np.maximum(best[near], weights)
            touched.append(near)
        if touched:
            every = np.concatenate(touched)
            # A place that is touched twice is set to one and the same sum twice.
            scores[every] += best[every]
            best[every] = 0
    return scores


def _links(sessions: Sessions) -> dict[int, Mask]:
    """For each distance and place whether a row of the same session is there."""
    links: dict[int, Mask] = {}
    for distance in range(1, REACH + 1):
        linked, none = sessions.linked(distance), np.zeros(min(distance, len(sessions)), np.bool_)
        links[distance] = np.concatenate([linked, none])
        links[-distance] = np.concatenate([none, linked])
    return links


def _window_lengths(lengths: Floats, shares: Floats, sessions: Sessions) -> Floats:
    spans, cut = lengths.copy(), lengths * shares
    for distance in range(1, REACH + 1):
        linked = sessions.linked(distance)
        spans[distance:] += np.where(linked, cut[:-distance], 0)
        spans[:-distance] += np.where(linked, cut[distance:], 0)
    return spans


def _spread(
    counts: Floats, at: Positions, found: Floats, shares: Floats, links: Mapping[int, Mask]
) -> Positions:
    """Add what was found at these places, each at most once, to the counts there and around; where that was."""
    counts[at] += found
    cut = found * shares[at]
    near = [at]
    for distance, linked in links.items():
        there = linked[at]
        reached = at[there] + distance
        counts[reached] += cut[there]
        near.append(reached)
    return np.concatenate(near)
