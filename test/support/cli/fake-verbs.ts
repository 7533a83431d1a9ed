/** Commands of no meaning, for tests of the frame. */
import * as v from 'valibot'
import { contract, noInput } from '../../../src/base/contract.js'
import type { Rendered } from '../../../src/cli/output.js'
import type { VerbRecord, CommandTable, VerbDeps } from '../../../src/cli/verb.js'
import { durationFlag, choiceFlag, integerFlag } from '../../../src/cli/flags.js'

/** What the fake verb of a test does. */
export type Act = (options: Record<string, unknown>, deps: VerbDeps) => Promise<unknown>

const facts = {
  summary: 'do a thing',
  description: 'Does a thing.',
  examples: ['$ sallyport thing do'],
  session: 'none',
  damage: 'unasked',
  exits: [],
  json: contract({
    name: 'thing.do', version: 1, input: noInput, output: v.unknown(),
    toDocument: (given: unknown) => given,
  }),
} as const

/** A result that says how it is told. */
const isRendered = (result: unknown): result is Rendered =>
  typeof result === 'object' && result !== null && 'out' in result && 'notes' in result

/** `thing do [word] [--count n] [--for d] [--color-of c] [--name n]` and `single`. */
export const fakeCommands = (act: Act): CommandTable => {
  const record: VerbRecord<Record<string, unknown>> = {
    ...facts,
    flags: (command) => command
      .argument('[word]', 'a word')
      .option('--name <name>', 'a name')
      .option('--must <x>', 'x')
      .addOption(integerFlag('--count <n>', 'how many', { min: 1, max: 9 }))
      .addOption(durationFlag('--for <d>', 'how long', { min: 1000, max: 3_600_000 }))
      .addOption(choiceFlag('--kind <k>', 'which', ['red', 'blue'])),
    text: (result) => {
      if (typeof result === 'string') return { out: result, notes: ['a note'] }
      return isRendered(result) ? result : JSON.stringify(result)
    },
    run: act,
  }
  return [
    { noun: 'thing', summary: 'things', verbs: [{ verb: 'do', load: async () => record }] },
    { verb: 'single', load: async () => record },
  ]
}
