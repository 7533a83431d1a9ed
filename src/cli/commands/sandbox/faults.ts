/** `sallyport sandbox faults`: the names of all faults. Needs no running sandbox. */
import * as v from 'valibot'
import { renderTable } from '../../table.js'
import { defineVerb } from '../../verb.js'
import type { Build, Run, VerbDefinition } from '../../verb.js'

const shape = v.array(
  v.strictObject({
    name: v.string(),
    services: v.array(v.string()),
    route: v.string(),
    summary: v.string(),
    value: v.nullable(v.strictObject({ meaning: v.string(), default: v.number() })),
  }),
)
/** Every fault that a sandbox can be given. */
export type FaultList = v.InferOutput<typeof shape>

const definition: VerbDefinition<FaultList> = {
  meta: {
    name: 'sandbox faults',
    summary: 'list the faults that a sandbox can be given',
    description:
      'Lists name, services and meaning of every fault, and what its value means where it takes '
      + 'one. Names that begin with billing_ strike the billing readback, all others completions.',
    examples: ['$ sallyport sandbox faults', '$ sallyport sandbox faults --json'],
    session: 'none',
    exits: [],
    json: { version: 1, schema: shape },
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
export const sandboxFaults: Run<object, FaultList> = async () => {
  const { faultTable } = await import('../../../sandbox/faults/table.js')
  return faultTable.map(({ name, services, route, summary, value }) => ({
    name,
    services: [...services],
    route,
    summary,
    value: value === undefined ? null : { meaning: value.meaning, default: value.fallback },
  }))
}

/** Parses a line of `sandbox faults`. */
export const build: Build = (deps) => defineVerb(deps, definition, sandboxFaults)
