import { constants } from 'node:crypto'

/**
 * The least that a connection of this program is worth, client or server. It is written out at each
 * one, since flags and variables of Node change every default, and the defaults differ: Node 20 and
 * 22 take RSA keys of 1024 bits (security level 1), Node 24 does not, and all of them speak TLS 1.2
 * without forward secrecy. Level 2 asks for 112 bits: RSA and finite groups of 2048, curves of 224.
 */
export const tlsFloor = {
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.3',
  ciphers: `${constants.defaultCoreCipherList}:!kRSA:@SECLEVEL=2`,
} as const

/**
 * Fewest bits of an RSA key that is taken. Asked at each handshake, beside level 2: OpenSSL judges
 * by rounded strength, which takes 1,984 bits for 112, and does not judge a pinned certificate.
 */
export const rsaBitsMin = 2048
