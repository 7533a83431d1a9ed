/** The demo, from the first line to the page. */
import { rmSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { World } from '../world/world.js'

t.test('the demo runs every capability against the sandbox, shows each line, ends well and leaves a sound state and a page', async (t) => {
  const place = World.in(t).place
  const ran = await place.spawn(['demo'])
  t.equal(ran.status, 0, ran.stderr)
  const [, dir = ''] = /Remove it with: rm -r (\S+)/.exec(ran.stdout) ?? []
  t.ok(dir)
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  for (const line of [
    'ledger show', 'gateway prove --all', 'shots scan', 'shots analyze', 'shots digest',
    'state check',
  ]) {
    t.match(ran.stdout, `$ sallyport ${line}\n`)
  }
  // One lost reply; both publications were opened as pull requests.
  t.match(ran.stdout, /codehost run \S+\n[^$]*succeeded[^$]*host numbered it 3/)
  t.match(ran.stdout, /codehost resume \S+\n[^$]*succeeded[^$]*host numbered it 4/)
  // One capacity closed by proof, never run again; one refused; one receipt verified.
  t.match(ran.stdout, /codehost close-capacity \S+ [^$]*closure: {4,}cls_[^$]*free/)
  t.match(ran.stdout, /codehost resume \S+\n[^$]*never runs again[^$]*exit status 5/)
  const successor = /Another job|A successor runs[^$]*\$ sallyport codehost run \S+\n[^$]*succeeded/
  t.match(ran.stdout, successor)
  t.match(ran.stdout, /--remote-id N[^$]*exit status 7/)
  t.match(ran.stdout, /codehost verify \S+\n[^$]*proves our record and not the host/)
  t.match(ran.stdout, '6 looked at: 4 ingested, 1 duplicate (0 known), 1 suppressed')
  t.match(ran.stdout, 'same_picture')
  // A device is paired, sends and is read back; what it sends when its pairing ends is not kept.
  t.match(ran.stdout, /\$ sallyport serve --page\n\s+https:\/\/127\.0\.0\.1:\d+\n/)
  t.match(ran.stdout, /edge revoke \S+\n[^$]*answered 401 \(edge_credential_revoked\)/)
  t.ok(readFileSync(join(dir, 'readback.png'))
    .equals(readFileSync(join(dir, 'screens', 'editor-one-line.png'))))
  t.match(ran.stdout, 'The state is sound.')
  const page = join(dir, 'report.html')
  t.equal(statSync(page).mode & 0o777, 0o600)
  t.match(readFileSync(page, 'utf8'), '>Timeline</h2>')
})
