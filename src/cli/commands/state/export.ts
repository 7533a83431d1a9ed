/** `sallyport state export`: every document of whoever is logged in, one JSON line each. */
import { setImmediate as yieldToEvents } from 'node:timers/promises'
import { stateExport, type ExportEnd } from '../../../fabric/export-contract.js'
import { notWritten } from '../../line.js'
import { writeJsonLine } from '../../output.js'
import type { VerbDeps, VerbRecord } from '../../verb.js'

const write = (deps: VerbDeps, shown: object): void => {
  try {
    writeJsonLine(deps, shown)
  } catch (cause) {
    throw notWritten(cause, 'Nothing was changed. Make room and run the command again.')
  }
}

/** Documents between two looks at whether a signal has come. */
const linesBetween = 500

/** Writes the lines; the last one is the result. */
const exportVerb: VerbRecord<object, ExportEnd> = {
  summary: 'write every document of yours as JSON lines',
  description:
    'Writes every live document of whoever is logged in, of one moment, in the order of the '
    + 'keyspace (collection, id). The first line says whose they are, the last how many. With them '
    + 'come those that belong to nobody and that every owner may read: policy, set-ups and '
    + 'screenshots. What other owners have is left out, and so is everything that opens something: '
    + 'of a stored key no more than name and fingerprint. Content lies sealed in the state and is '
    + 'named by its digests; docs/dev/state-format.md says how it is opened.',
  examples: ['$ sallyport state export --jsonl > documents.jsonl'],
  exits: ['blocked'],
  json: stateExport,
  flags: (command) =>
    command.requiredOption('--jsonl', 'one JSON document a line, which is the only form'),
  text: (end) => ({ out: `${JSON.stringify(end)}\n`, exact: true }),
  run: async (_line, deps) => {
    const { gov, session } = await deps.login('read')
    const { exportOwn } = await import('../../../fabric/export.js')
    let written = 0
    for await (const line of exportOwn(gov, session)) {
      const shown = stateExport.document(line)
      if (shown.line === 'end') return shown
      write(deps, shown)
      written += 1
      if (written % linesBetween !== 0) continue
      await yieldToEvents()
      deps.stop.throwIfAborted()
    }
    throw new TypeError('an export ends with its last line')
  },
}

export { exportVerb as export }
