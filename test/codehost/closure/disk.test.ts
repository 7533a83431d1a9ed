/** Closures on a disk that fails: what is told is the disk, and not the way to the host. */
import t from 'tap'
import { closing } from '../../support/codehost/closing.js'
import { must } from '../../support/must.js'
import { onFailingDisk } from '../../support/soak/failing-disk.js'
import { slice } from '../../support/slice.js'

t.test('C-239 a disk that fails at any call of a closure is told as that, and the same request then closes', async (t) => {
  const at = await closing(t)
  const roots = [at.place.stateDir, at.place.configDir]
  const seen: string[] = []
  const first = await at.unknown('Counted', 'numbered')
  const counted = at.request(first)
  await onFailingDisk(roots, { at: 0, fault: 'EIO', seen }, async () =>
    must(await at.close(first, counted)))
  t.ok(seen.some((call) => call.includes('/run/fence/')), 'the fence of a request among them')
  const codes = new Map<number, string>()
  let job = await at.unknown('Fails', 'numbered')
  let request = at.request(job)
  const calls = slice('failing call', seen.map((text, at) => ({ text, call: at + 1 })), {
    axesOf: ({ text }) =>
      [text.replace(/ .*/, ''), /\/(?:state|config)\/(\w+)/.exec(text)?.[1] ?? ''],
    idOf: ({ call }) => String(call),
  })
  for (const { call } of calls) {
    const ran = await onFailingDisk(roots, { at: call, fault: 'EIO', seen: [] }, () =>
      at.close(job, request))
    if (ran.status !== 0) {
      codes.set(call, `${ran.error().code} ${ran.error().reason}`)
      continue
    }
    job = await at.unknown(`Fails ${call}`, 'numbered')
    request = at.request(job)
  }
  for (const [call, code] of codes) {
    t.match(code, /^(?:io_failed|system_error) null$/, `${code} ${seen[call - 1] ?? ''}`)
  }
  must(await at.close(job, request))
})
