/**
 * Preloaded by the processes of a run of tests and by the programs that they start: a passphrase is
 * derived at a thirty-second of its cost. A derivation at the cost of the program takes longer than
 * most tests, and no test is about that time; rows and files still say the program's own cost.
 * `test/support/apart.ts` starts a process without this.
 */
'use strict'
const crypto = require('node:crypto')
const { syncBuiltinESMExports } = require('node:module')

const { scrypt } = crypto
const lightest = 1024

crypto.scrypt = (passphrase, salt, bytes, options, told) =>
  scrypt(passphrase, salt, bytes, { ...options, N: Math.min(options.N, lightest) }, told)
syncBuiltinESMExports()
