"""AES-256-GCM in plain Python, for a reader without libraries. Slow; for a test only."""


def _times(a, b):
    """Product of two elements of the field of AES."""
    product = 0
    while b:
        product ^= a if b & 1 else 0
        a = a << 1 ^ (0x11b if a & 0x80 else 0)
        b >>= 1
    return product


def _boxes():
    box = []
    for byte in range(256):
        inverse = next((n for n in range(256) if _times(byte, n) == 1), 0)
        turned = inverse
        for _ in range(4):
            inverse = (inverse << 1 | inverse >> 7) & 0xff
            turned ^= inverse
        box.append(turned ^ 0x63)
    return box


BOX = _boxes()
COLUMNS = [
    [int.from_bytes(bytes((b[-i % 4], b[(1 - i) % 4], b[(2 - i) % 4], b[(3 - i) % 4])), 'big')
     for b in [(_times(s, 2), s, s, _times(s, 3)) for s in BOX]]
    for i in range(4)
]


def _word(word):
    return int.from_bytes(bytes(BOX[byte] for byte in word.to_bytes(4, 'big')), 'big')


def _round_keys(key):
    words = [int.from_bytes(key[at:at + 4], 'big') for at in range(0, 32, 4)]
    constant = 1
    for n in range(8, 60):
        last = words[-1]
        if n % 8 == 0:
            last = _word((last << 8 | last >> 24) & 0xffffffff) ^ constant << 24
            constant = _times(constant, 2)
        elif n % 8 == 4:
            last = _word(last)
        words.append(words[n - 8] ^ last)
    return [words[n:n + 4] for n in range(0, 60, 4)]


def _block(keys, number):
    """One block, as a number of 128 bits."""
    state = [(number >> shift & 0xffffffff) ^ key for shift, key in zip((96, 64, 32, 0), keys[0])]
    first, second, third, fourth = COLUMNS
    for key in keys[1:-1]:
        state = [
            first[state[n] >> 24] ^ second[state[(n + 1) % 4] >> 16 & 0xff]
            ^ third[state[(n + 2) % 4] >> 8 & 0xff] ^ fourth[state[(n + 3) % 4] & 0xff] ^ key[n]
            for n in range(4)
        ]
    out = 0
    for n in range(4):
        word = (BOX[state[n] >> 24] << 24 | BOX[state[(n + 1) % 4] >> 16 & 0xff] << 16
                | BOX[state[(n + 2) % 4] >> 8 & 0xff] << 8 | BOX[state[(n + 3) % 4] & 0xff])
        out = out << 32 | word ^ keys[-1][n]
    return out


def _hash_table(subkey):
    """Products of the hash key with each of 256 bytes at each of 16 places."""
    powers = []
    value = subkey
    for _ in range(128):
        powers.append(value)
        value = value >> 1 ^ (0xe1 << 120 if value & 1 else 0)
    tables = []
    for place in range(16):
        table = [0] * 256
        for byte in range(1, 256):
            low = byte & -byte
            table[byte] = table[byte ^ low] ^ powers[8 * place + 8 - low.bit_length()]
        tables.append(table)
    return tables


def opened(key, nonce, sealed, data):
    """The plaintext of ciphertext with its tag behind; None where the tag is not true."""
    keys = _round_keys(key)
    tables = _hash_table(_block(keys, 0))
    cipher, tag = sealed[:-16], sealed[-16:]
    mark = 0
    padded = data + bytes(-len(data) % 16) + cipher + bytes(-len(cipher) % 16)
    padded += (8 * len(data)).to_bytes(8, 'big') + (8 * len(cipher)).to_bytes(8, 'big')
    for at in range(0, len(padded), 16):
        block = (mark ^ int.from_bytes(padded[at:at + 16], 'big')).to_bytes(16, 'big')
        mark = 0
        for table, byte in zip(tables, block):
            mark ^= table[byte]
    start = int.from_bytes(nonce, 'big') << 32
    if (mark ^ _block(keys, start | 1)).to_bytes(16, 'big') != tag:
        return None
    plain = bytearray()
    for n, at in enumerate(range(0, len(cipher), 16)):
        part = cipher[at:at + 16]
        stream = _block(keys, start | n + 2).to_bytes(16, 'big')
        plain += bytes(a ^ b for a, b in zip(part, stream))
    return bytes(plain)
