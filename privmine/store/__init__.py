"""Counting: the protocol that a store of transactions fulfils, the in-memory store, the exact miner."""
