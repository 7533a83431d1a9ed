/** What a read that got no reply is told as. */
import { fail, type SallyportError } from '../../../src/base/errors.js'
import { errorOf } from '../../../src/codehost/adapter/look.js'
import { ContactError } from '../../../src/net/contact-error.js'
import { working } from '../../support/codehost/working.js'
import { must } from '../../support/must.js'
import { onFailingDisk } from '../../support/soak/failing-disk.js'
import { t } from '../../support/tests-in-slices.js'

t.test('a disk that fails under a read is told as that, and never as a host that gave no answer', async (t) => {
  const at = await working(t)
  const seen: string[] = []
  const roots = [at.place.stateDir, at.place.configDir]
  await onFailingDisk(roots, { at: 0, fault: 'EIO', seen }, async () => must(await at.consent()))
  const calls = seen.flatMap((call, index) => (/\/run\/fence\//.test(call) ? [index + 1] : []))
  t.ok(calls.length > 1, seen.join('\n'))
  for (const call of calls) {
    const ran = await onFailingDisk(roots, { at: call, fault: 'EIO', seen: [] }, () => at.consent())
    if (ran.status !== 0) t.match(ran.error().code, /^(?:io_failed|system_error)$/, ran.stderr)
  }
})

t.test('what refused a read is told as what it is, behind its first byte too; only the rest is silence', (t) => {
  const told = (kind: 'sent' | 'unsent', cause: unknown): readonly string[] => {
    const wire = { reason: 'x', cause }
    const { kind: of, code } = errorOf(
      kind === 'sent' ? { kind, ...wire } : { kind, ...wire, errorKind: 'failed' })
    return [of, code]
  }
  const stopped: SallyportError = fail.locked('stopped', 'A stop covers it.')
  t.strictSame(told('unsent', stopped), ['locked', 'stopped'])
  t.strictSame(told('sent', stopped), ['blocked', 'stopped'], 'never a status of nothing sent')
  const disk = fail.failed('io_failed', 'The disk reported an error.')
  t.strictSame(told('sent', disk), ['failed', 'io_failed'])
  const ended = new ContactError('cancelled', 'possible', 'It was cancelled.')
  t.strictSame(told('sent', ended), ['cancelled', 'cancelled'])
  for (const cause of [new ContactError('reset', 'possible', 'It was reset.'), undefined]) {
    t.strictSame(told('sent', cause), ['remote', 'codehost_unreachable'])
  }
  t.end()
})
