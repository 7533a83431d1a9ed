// What the processes of mutated tests are given.
import { writeFileSync } from 'node:fs'
import { root } from '../run.js'
import { treeDir } from '../tree.js'

/**
 * The environment of test processes, as in the whole run; the checkout has to be compiled.
 * @param {string | null} memory folder in memory for what they write
 * @param {{ short?: boolean }} [options] `short` goes through tables of cases by slices, always the
 *   same ones, and through every test
 */
export const environment = async (memory, { short = false } = {}) => {
  const { makeCertificates } = await import(`${treeDir}/src/sandbox/certificates.js`)
  const tls = `${root}/.build/mutate-tls.json`
  writeFileSync(tls, JSON.stringify(await makeCertificates()), { mode: 0o600 })
  const sliced = short ? { SALLYPORT_TEST_RUN: 'tables', SALLYPORT_TEST_SEED: '1' } : {}
  const env = { ...process.env, ...sliced, SALLYPORT_TEST_TLS: tls }
  delete env.NODE_EXTRA_CA_CERTS
  delete env.SALLYPORT_TEST_PACKED
  return memory === null ? env : { ...env, TMPDIR: memory }
}
