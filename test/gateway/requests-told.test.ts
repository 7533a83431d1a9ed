/** The form of the gateway tells how many requests the ledger saw, and not how many rows it has. */
import { collections } from '../../src/governance/rows.js'
import { must } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'
import { World } from '../world/world.js'

t.test('a figure on a form is the ledger’s: requests that were sent, whatever rows they have', async (t) => {
  const world = await World.in(t).sandbox().state().session().alpha()
  const told = async (): Promise<string> => {
    const terminal = { stdin: true, stdout: true, stderr: true }
    const { stderr } = await world.run(['gateway', 'setup'], {
      terminal, answers: ['keep', 'no other slot', '', false, false],
    })
    return /The ledger saw .*/.exec(stderr.replaceAll('\n', ' '))?.[0] ?? stderr
  }
  const ask = (at?: (step: string) => void) => world.run(['alpha', 'ask', '-', '--json'], {
    stdin: 'What is it?', ...(at === undefined ? {} : { at }),
  })
  const account = () => world.view().all(collections.ledgerAccounts)[0]?.doc
  t.ok((account()?.rows ?? 0) > 0, 'setting up a ceiling is a row')
  t.match(await told(), 'The ledger saw no request yet.')
  must(await ask())
  must(await ask())
  t.ok((account()?.rows ?? 0) > 4, 'a request has several rows')
  t.match(await told(), /^The ledger saw 2 requests, [$0-9.]+.* in all\./)
  const stopped = await ask((step) => {
    if (step === 'ask.before_dial') throw new Error('stopped before anything was sent')
  })
  t.not(stopped.status, 0)
  must(await world.run(['task', 'list', '--json']))
  const released = world.view().all(collections.closedReservations)
    .filter(({ doc }) => doc.state === 'released')
  t.equal(released.length, 1, 'nothing of it was sent')
  t.match(await told(), 'The ledger saw 2 requests')
})
