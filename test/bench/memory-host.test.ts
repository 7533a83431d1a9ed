/**
 * The host in memory that benches publish to and close at is one that the program believes: a rule
 * that grows stricter is noticed here, not by the next measurement.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { approvedPublication } from '../../bench/approved-publication.js'
import { must } from '../support/must.js'
import { temporaryFolder } from '../world/place.js'

t.test('a publication at the host of the benches succeeds, and its capacity is closed', async (t) => {
  const dir = temporaryFolder(t)
  const program = join(dir, 'host.mjs')
  const served = JSON.stringify(new URL('../../bench/memory-host.js', import.meta.url).href)
  writeFileSync(program, `import { serve } from ${served}\nawait serve(process.argv[2])\n`)
  const host = spawn(process.execPath, [program, dir], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => host.kill())
  const [printed] = await once(host.stdout, 'data') as [Buffer]
  const { profileFile } = JSON.parse(printed.toString()) as { profileFile: string }
  const { world, job, end } = await approvedPublication(profileFile, {
    count: 2, contentOf: (n) => Buffer.from(`file ${n}\n`),
  })
  t.teardown(end)
  must(await world.run(['codehost', 'run', job]))
  t.hasStrict(await world.json(['codehost', 'jobs', job]), { state: 'succeeded' })
})
