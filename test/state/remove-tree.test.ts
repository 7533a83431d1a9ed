/** Removing a folder that somebody else removes at the same time. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { nodeFiles, removeTree, type Files } from '../../src/state/files.js'

t.test('a folder that another process removes meanwhile, at whatever call, is removed and no failure', async (t) => {
  const made = (): string => {
    const dir = t.testdir()
    mkdirSync(join(dir, 'stage/objects/aa'), { recursive: true })
    for (const name of ['one', 'objects/two', 'objects/aa/three']) {
      writeFileSync(join(dir, 'stage', name), name)
    }
    return join(dir, 'stage')
  }
  const calls = ['stat', 'list', 'unlink', 'rmdir'] as const
  for (const call of calls) {
    for (let at = 1; at <= 4; at += 1) {
      const stage = made()
      let [seen, met] = [0, false]
      const other: Files = {
        ...nodeFiles,
        [call]: (path: string) => {
          seen += 1
          if (seen === at) {
            met = true
            rmSync(stage, { recursive: true })
          }
          return nodeFiles[call](path)
        },
      }
      removeTree(other, stage)
      t.notOk(existsSync(stage), `${call} ${at}`)
      t.equal(met, call === 'stat' || at <= 3, `${call} ${at} was reached`)
    }
  }
})
