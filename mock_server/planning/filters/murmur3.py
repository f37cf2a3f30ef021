"""The 32-bit Murmur3 hash (x86 variant, seed 0), with which Iceberg assigns values to buckets."""

import struct

_MASK = 0xFFFFFFFF


def murmur3_32(data: bytes) -> int:
    """Return the hash of some bytes, as an unsigned integer."""
    whole = len(data) & ~3
    hashed = 0
    for (block,) in struct.iter_unpack("<I", data[:whole]):
        hashed ^= _scrambled(block)
        hashed = ((hashed << 13) | (hashed >> 19)) & _MASK
        hashed = (hashed * 5 + 0xE6546B64) & _MASK
    if len(data) > whole:
        hashed ^= _scrambled(int.from_bytes(data[whole:], "little"))
    hashed ^= len(data)
    hashed ^= hashed >> 16
    hashed = (hashed * 0x85EBCA6B) & _MASK
    hashed ^= hashed >> 13
    hashed = (hashed * 0xC2B2AE35) & _MASK
    return hashed ^ (hashed >> 16)


def _scrambled(block: int) -> int:
    block = (block * 0xCC9E2D51) & _MASK
    block = ((block << 15) | (block >> 17)) & _MASK
    return (block * 0x1B873593) & _MASK
