/** The demo of two machines, which a development install plays: `npm run demo -- shared`. */
import { spawnSync } from 'node:child_process'
import { play } from '../../support/demo/shared.js'
import { t } from '../../support/tests-in-slices.js'

t.test('the demo of two machines is a story of at most 120 lines of 80 columns: one ceiling, one report, a revoke in the middle of a publication, and one directory again', async (t) => {
  let told = ''
  await play(t, (text) => { told += text })
  const rows = told.split('\n').map((line) => Math.max(1, Math.ceil(line.length / 80)))
  t.ok(rows.reduce((sum, one) => sum + one, 0) <= 120)
  const steps = [
    /anna\$ sallyport init --shared postgres:[^]*?--server-ca/,
    /anna\$ sallyport machine invite ben/,
    /ben\$ sallyport machine join ben\.invite[^$]*shared {5}127\.0\.0\.1\/state, record/,
    /anna\$ printf 'What[^]*?receipt task_/, /ben\$ printf 'And a postern[^$]*?exit status 7/,
    /anna\$ printf 'And a bailey[^]*?exit status 8/,
    /ben\$ sallyport ledger show\n[^]*?settled/, /anna\$ sallyport shots scan\n[^$]*4 ingested/,
    /anna\$ sallyport shots report\n[^$]*4 observations of 5 images/,
    /ben\$ sallyport shots report\n[^$]*4 observations of 5 images/,
    /anna\$ sallyport codehost run job_/,
    /ben\$ sallyport policy revoke\n[^$]*Every route is stopped[^$]*1 request was already sent/,
    /seen until now: 2\.[^$]*exit status 7/, /seen in the end: 2\. Nothing left after the revoke/,
    /ben\$ printf 'Still[^$]*exit status 4/, /anna\$ sallyport state unshare --yes\n[^$]*again/,
    /ben\$ sallyport goal add Never\n[^$]*exit status 7/, /state check\n[^$]*The state is sound\./,
  ]
  let from = 0
  for (const step of steps) {
    const at = told.slice(from).search(step)
    t.ok(at >= 0, String(step))
    from += at + 1
  }
})

t.test('a scene that there is not is refused before anything is built', async (t) => {
  const ran = spawnSync(process.execPath, ['scripts/demo.js', 'everything'], { encoding: 'utf8' })
  t.strictSame([ran.status, ran.stdout], [2, ''])
  t.match(ran.stderr, 'npm run demo -- shared')
})
