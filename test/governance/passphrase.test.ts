/** What a passphrase costs whoever guesses. */
import { scryptSync } from 'node:crypto'
import t from 'tap'
import { apart } from '../support/apart.js'

const derived = new URL('../../src/governance/passphrase.js', import.meta.url).href
const passphrase = 'correct horse battery'

t.test('the hash of a passphrase is scrypt at the cost that its row tells, which takes 32 MiB a guess', async (t) => {
  const { n, r, p, salt, hash } = apart(`
    import { hashPassphrase } from ${JSON.stringify(derived)}
    console.log(JSON.stringify(await hashPassphrase(${JSON.stringify(passphrase)})))`)
  t.strictSame([n, r, p], [32_768, 8, 1])
  const options = { N: Number(n), r: Number(r), p: Number(p), maxmem: 64 * 1024 * 1024 }
  const expected = scryptSync(passphrase, Buffer.from(String(salt), 'base64url'), 32, options)
  t.equal(hash, expected.toString('base64url'))
})
