/** Timers, the service behind its socket and a device on a machine that systemd has booted. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { needsBoot } from '../support/containers/booted.js'
import { liveBooted, type Life } from '../support/containers/booted-life.js'
import { pageUnits } from '../support/containers/page-units.js'
import { rounds } from '../support/slice.js'
import { rowsOf } from '../support/soak/booted.js'
import { World } from '../world/world.js'

t.test('what a unit of the pages tells of a failure goes to the journal, and not where its stdout goes', (t) => {
  const units = pageUnits('/opt/bin/sallyport')
  t.strictSame(units.map(({ name }) => name), [
    'sallyport.socket', 'sallyport.service', 'sallyport-shots.service', 'sallyport-edge.service',
  ])
  for (const { name, text } of units) {
    // A stderr of which nothing is said goes where stdout goes.
    t.equal(text.includes('StandardOutput=null'), text.includes('StandardError=journal'), name)
  }
  t.end()
})

const jobs = ['scan', 'analyze', 'digest', 'age'] as const

/** Every service of the life, by what comes behind the id of its state. */
const servicesOf = ({ lived, second }: Life) => {
  const named = (units: Life['lived']) => new Map([...units].map(([name, one]) =>
    [name.replace(/^sallyport-[0-9a-f]{8}-(\w+)\.service$/, '$1'), one]))
  return { all: named(lived), second: named(second) }
}

const minutes = rounds('minutes of a booted systemd', { short: 0, all: 5 })
const skip = minutes === 0 ? false : await needsBoot()

if (minutes > 0) {
  t.test('units of all jobs are installed, run, fail, are started anew, outlive a boot and are removed, and nothing is left', { skip }, async (t) => {
    const life = await liveBooted(World.in(t).place, minutes)
    const { all, second } = servicesOf(life)
    t.equal(life.installed.length, 9, life.installed.join(' '))
    t.strictSame(life.doctor, [
      'ok: sallyport.socket fits the service', 'ok: sallyport.service fits the service',
    ])
    for (const job of jobs) {
      t.ok((all.get(job)?.ran ?? 0) > (second.get(job)?.ran ?? 0), `${job} ran`)
      t.ok((second.get(job)?.ran ?? 0) > 0, `${job} ran behind a boot, with nobody logged in`)
    }
    t.ok((all.get('scan')?.failed ?? 0) > 0, 'a scan without its folder fails')
    t.match(life.scanTold, /folder is not there/, 'the journal says why')
    t.ok(life.mails > 0, 'and it is mailed')
    t.ok(life.failedTold.includes('scan'), 'timers show asks systemd and tells it')
    for (const name of ['sallyport-edge.service', 'sallyport-shots.service']) {
      t.equal(all.get(name)?.again, 1, `${name} was started anew once it was killed`)
    }
    t.ok((all.get('sallyport.service')?.ran ?? 0) >= 4, 'each request to no service started it')
    t.equal(life.stopped, 'success 0', 'it ends well where it is stopped')
    t.equal(life.answered, life.asked, 'no request was lost, not even to a service that was killed')
    t.equal(life.stored, life.pictures, 'each capture arrived')
    t.ok(life.ingested > 4 && life.analyzed > 0, JSON.stringify(life))
    t.ok(life.isSound, 'the state is sound')
    t.strictSame([life.left, life.leftHere], [[], []])
    const page = readFileSync('docs/dev/systemd.md', 'utf8')
    for (const row of rowsOf(life)) t.match(page, row.split(' | ')[0] ?? row, 'the page has it')
  })
}
