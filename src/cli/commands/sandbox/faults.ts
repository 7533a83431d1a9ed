/** `sallyport sandbox faults`: the names of all faults. Needs no running sandbox. */
import { sandboxFaults, type FaultListDocument } from '../../../sandbox/contract.js'
import { renderTable } from '../../table.js'
import { defineVerb } from '../../verb.js'
import type { Build, Run, VerbDefinition } from '../../verb.js'

const definition: VerbDefinition<FaultListDocument> = {
  meta: {
    name: 'sandbox faults',
    summary: 'list the faults that a sandbox can be given',
    description:
      'Lists name, services and meaning of every fault, and what its value means where it takes '
      + 'one. Names that begin with billing_ strike the billing readback, all others completions.',
    examples: ['$ sallyport sandbox faults', '$ sallyport sandbox faults --json'],
    session: 'none',
    damage: 'unasked',
    exits: [],
    json: sandboxFaults,
  },
  text: (list, view) =>
    renderTable(
      view,
      ['fault', 'services', 'what happens', 'value'],
      list.map(({ name, services, summary, value }) => [
        name,
        services.join(' '),
        summary,
        value === null ? '' : `${value.meaning} (${value.default})`,
      ]),
    ),
}

/** Reads the table of faults. */
export const run: Run<object, FaultListDocument> = async () => {
  const { faultTable } = await import('../../../sandbox/faults/table.js')
  return sandboxFaults.answer(faultTable)
}

/** Parses a line of `sandbox faults`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
