/** `sallyport sandbox faults`: the names of all faults. Needs no running sandbox. */
import { sandboxFaults } from '../../../sandbox/contract.js'
import { renderTable } from '../../table.js'
import { verb } from '../../verb.js'

export const faults = verb(sandboxFaults, {
  summary: 'list the faults that a sandbox can be given',
  description:
    'Lists name, services and meaning of every fault, and what its value means where it takes '
    + 'one. Names that begin with billing_ strike the billing readback, all others completions.',
  examples: ['$ sallyport sandbox faults', '$ sallyport sandbox faults --json'],
  session: 'none',
  damage: 'unasked',
  exits: [],
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
  run: async () => {
    const { faultTable } = await import('../../../sandbox/faults/table.js')
    return faultTable
  },
})
