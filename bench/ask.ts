/**
 * What consent, ledger, records and receipt cost on top of the conversation itself: `alpha ask`
 * beside a script that makes the same two POSTs to the same sandbox with node-fetch.
 */
import { join } from 'node:path'
import { compare } from './pairs.js'
import { setUpText, withPlace, withSandbox } from './place.js'
import type { BenchRow } from './types.js'

const pairs = 25
const ratioMax = 1.25
const question = 'What is a sally port?'
const bare = join(process.cwd(), 'bench/bare-ask.js')

/** One row. */
export const run = async (): Promise<BenchRow[]> =>
  withPlace((place) => withSandbox(place, (sandbox) => {
    setUpText(place, sandbox)
    const theirs = {
      args: [bare, sandbox.profile_file, sandbox.provider_key_file], stdin: question,
    }
    const ours = place.line(['alpha', 'ask', '-'], question)
    const { ratio, oursMs, theirsMs } = compare(ours, theirs, pairs)
    return [{
      name: 'sallyport alpha ask',
      ratio,
      target: `at most ${ratioMax}`,
      pass: ratio <= ratioMax,
      detail: `${oursMs.toFixed(1)} ms beside ${theirsMs.toFixed(1)} ms of a bare script with the `
        + 'same two POSTs',
    }]
  }))
