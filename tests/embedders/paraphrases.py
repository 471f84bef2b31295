"""Twenty memories, each with the same said in other words, and with something else: what an embedder must tell apart.

Owns: the texts, written for this test, from topics that people ask an assistant to remember. Guarantees: the first ten
paraphrases share no word of content with what they paraphrase, so that keywords alone do not find them.
"""

from __future__ import annotations

PARAPHRASES = (
    (
        "My daughter is allergic to peanuts.",
        "The girl can't eat nuts, they make her sick.",
        "The build server runs out of disk space every night.",
    ),
    (
        "The physician told him to quit smoking.",
        "His doctor said that cigarettes must stop.",
        "We picked Postgres over MySQL for the billing service.",
    ),
    (
        "She purchased a used automobile last month.",
        "A second-hand car was bought by her four weeks ago.",
        "Please answer in French from now on.",
    ),
    (
        "The flight was cancelled because of the storm.",
        "Bad weather meant that our plane never took off.",
        "He learned to play the cello as a child.",
    ),
    (
        "He resigned from his job at the bank.",
        "The man quit working for the financial company.",
        "The recipe needs two eggs and a cup of flour.",
    ),
    (
        "The children were scared of thunder.",
        "Kids get frightened by loud lightning storms.",
        "Deploys need two approvals before Friday noon.",
    ),
    (
        "Our meeting starts at nine in the morning.",
        "We get together at 9 am.",
        "The cat prefers dry food.",
    ),
    (
        "I adore hiking in the mountains.",
        "Walking trails up high peaks is what I love.",
        "The invoice total is wrong by three euros.",
    ),
    (
        "The apartment is too expensive for us.",
        "We can't afford that flat.",
        "Rotate the API keys every ninety days.",
    ),
    (
        "He repairs broken bicycles in his garage.",
        "Fixing damaged bikes at home is what this man does.",
        "She votes in every local election.",
    ),
    (
        "The database password rotates every Friday.",
        "Each Friday the password of the database is changed.",
        "Grandmother's birthday is in early spring.",
    ),
    (
        "Use tabs, not spaces, in Go files.",
        "Go code is indented with tabs instead of spaces.",
        "The dentist appointment moved to Thursday.",
    ),
    (
        "Anna moved from Berlin to Lisbon in 2021.",
        "In 2021 Anna left Berlin and now lives in Lisbon.",
        "Unit tests must finish within ten seconds.",
    ),
    (
        "The customer wants a refund for the damaged lamp.",
        "A buyer whose lamp arrived broken asks for the money back.",
        "Our team plays football on Sundays.",
    ),
    (
        "He takes his coffee black, without sugar.",
        "No milk and no sugar in his coffee.",
        "The satellite reached orbit after eight minutes.",
    ),
    (
        "The server crashed because memory ran out.",
        "An out-of-memory error brought the server down.",
        "They adopted a puppy from the shelter.",
    ),
    (
        "Interest rates rose again this quarter.",
        "The central bank raised interest rates once more.",
        "The tent leaks when it rains.",
    ),
    (
        "My sister studies marine biology in Norway.",
        "My sister is at a Norwegian university, learning about life in the sea.",
        "The printer on the second floor is jammed.",
    ),
    (
        "The team decided to write the new service in Rust.",
        "Rust was chosen as the language for the new service.",
        "He broke his arm while skiing.",
    ),
    (
        "Remind me to water the plants on Monday.",
        "On Monday I have to give the plants some water.",
        "The contract ends with the fiscal year.",
    ),
)
