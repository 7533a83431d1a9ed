/** One result, however it is read: the output, the task of the route, the task of the board. */
import t from 'tap'
import { sha256Hex } from '../../src/base/canonical.js'
import { World } from '../world/world.js'

t.test('A-133 output, task and board tell one state, result and review, before and after the review', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const { task: { id }, answer } = (await rig.ask()).json()
  const read = async () => {
    const output = (await rig.run(['alpha', 'output', id, '--json'])).json()
    const route = (await rig.run(['alpha', 'task', id, '--json'])).json()
    const board = (await rig.run(['task', 'show', id, '--json'])).json()
    t.strictSame(route.task, output.task, 'the route tells the task that the output tells')
    t.strictSame(route.receipt, output.receipt)
    const { state, review, done } = board.task ?? board
    t.strictSame([state, review, done], [output.task.state, output.task.review, output.task.done])
    t.equal(output.answer, answer, 'the answer that the ask printed')
    t.equal(output.receipt.output_digest, sha256Hex(Buffer.from(output.answer)))
    t.equal(output.receipt.result_artifact_id, output.task.result_artifact_id)
    return [state, review, done]
  }
  t.strictSame(await read(), ['succeeded', 'pending', false])
  t.equal((await rig.run(['alpha', 'review', id, '--approve'])).status, 0)
  t.strictSame(await read(), ['succeeded', 'approved', true])
})
