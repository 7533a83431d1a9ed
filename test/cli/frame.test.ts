import t from 'tap'
import { sallyport } from '../harness.js'

t.test('the version is one line, in this process and as a process', async (t) => {
  const place = sallyport(t)
  const here = await place.run(['--version'])
  t.equal(here.status, 0)
  t.match(here.stdout, /^\d+\.\d+\.\d+\n$/)
  const spawned = await place.spawn(['--version'])
  t.equal(spawned.stdout, here.stdout)
  t.equal((await place.spawn(['--version'], { entry: 'test' })).stdout, here.stdout)
})
