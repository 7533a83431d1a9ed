/** What an ask is admitted as: of which goal, and for how long. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { isoFromMs } from '../../../src/base/clock.js'
import { findTask } from '../../../src/governance/board/place.js'
import { collections } from '../../../src/governance/rows.js'
import { must } from '../../support/must.js'
import { World } from '../../world/world.js'

t.test('A-186 a key stands for a question of one goal: under another goal it is a conflict', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const { id: goal } = await rig.json(['goal', 'add', 'Another aim'])
  const key = ['--idempotency-key', randomUUID()]
  const first = must(await rig.ask({ args: key })).json()
  const other = await rig.ask({ args: [...key, '--goal', goal] })
  t.equal(other.error().code, 'idempotency_conflict')
  t.equal(must(await rig.ask({ args: key })).json().task.id, first.task.id)
})

t.test('the authority of an ask ends with its consent, where that ends before the session', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const soon = isoFromMs(rig.gov.clock.wallMs() + 300_000)
  await rig.transact((tx) => {
    for (const { id, doc } of tx.all(collections.consents)) {
      tx.put(collections.consents, id, { ...doc, expires_at: soon })
    }
  })
  const { task } = must(await rig.ask()).json()
  t.equal(findTask(rig.view(), task.id)?.purpose.expires_at, soon)
})
