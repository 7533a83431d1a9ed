/** What a reply of the control endpoint is worth: another shape and another status are refusals. */
import { dirname } from 'node:path'
import t from 'tap'
import * as v from 'valibot'
import { askControl, type ControlRequest } from '../../../src/cli/commands/sandbox/control.js'
import { fakeCommands } from '../../support/cli/fake-verbs.js'
import { codeOfWaited } from '../../support/refused.js'
import { World } from '../../world/world.js'

t.test('a reply of another shape or status is told, and a refusal is the sandbox\'s own', async (t) => {
  const world = await World.in(t).sandbox()
  const { place, sandbox } = world
  const dir = dirname(sandbox.profileFile)
  const codes: Record<string, string> = {}
  const requests: readonly (readonly [string, ControlRequest, object])[] = [
    ['fits', { method: 'GET', path: '/status' }, {}],
    ['other shape', { method: 'GET', path: '/status' }, { absent: v.string() }],
    ['other path', { method: 'GET', path: '/other' as '/status' }, {}],
    ['refused', { method: 'POST', path: '/faults', body: { name: 'nonsense' } }, {}],
  ]
  await place.run(['thing', 'do'], {
    commands: fakeCommands(async (_options, deps) => {
      for (const [name, request, members] of requests) {
        const shape = v.looseObject(members as v.ObjectEntries)
        codes[name] = await codeOfWaited(() => askControl(deps, dir, request, shape))
      }
      return 'done'
    }),
  })
  t.strictSame(codes, {
    fits: 'none', 'other shape': 'sandbox_reply', 'other path': 'sandbox_refused',
    refused: 'sandbox_fault_unknown',
  })
})
