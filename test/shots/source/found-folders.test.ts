/** Which folders of this machine a form offers as the folder of screenshots. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { foundFolders } from '../../../src/shots/source/found-folders.js'

const worldOf = (t: Test, made: readonly string[]) => {
  const dir = t.testdir({ home: {}, workspace: {}, state: {} })
  const at = (name: string): string => join(dir, name)
  for (const name of made) mkdirSync(at(name), { recursive: true })
  return {
    at, env: {} as Record<string, string>, home: at('home'), workspace: at('workspace'),
    ownFolders: [at('state')],
  }
}

t.test('nothing is offered where no screenshots lie, and Desktop never is', async (t) => {
  const world = worldOf(t, ['home/Desktop', 'home/Pictures'])
  t.strictSame(foundFolders(world), [])
  for (const place of ['home/Desktop', 'home', 'workspace', 'state', 'nowhere']) {
    world.env['XDG_SCREENSHOTS_DIR'] = world.at(place)
    t.strictSame(foundFolders(world), [], place)
  }
  writeFileSync(world.at('home/Pictures/Screenshots'), '')
  t.strictSame(foundFolders(world), [], 'a file is no folder')
  t.strictSame(foundFolders({ ...world, env: { GRIM_DEFAULT_DIR: 'Pictures' } }), [], 'no path')
})

t.test('what tools are told comes before the folder of pictures, and each folder once', async (t) => {
  const world = worldOf(t, ['home/Pictures/Screenshots', 'home/shots', 'home/grim'])
  symlinkSync(world.at('home/grim'), world.at('home/link'))
  world.env['GRIM_DEFAULT_DIR'] = world.at('home/link')
  t.strictSame(foundFolders(world), ['home/grim', 'home/Pictures/Screenshots'].map(world.at))
  world.env['XDG_SCREENSHOTS_DIR'] = world.at('home/grim')
  t.strictSame(foundFolders(world), ['home/grim', 'home/Pictures/Screenshots'].map(world.at))
  world.env['XDG_SCREENSHOTS_DIR'] = world.at('home/shots')
  t.strictSame(foundFolders(world),
    ['home/shots', 'home/grim', 'home/Pictures/Screenshots'].map(world.at))
})

t.test('the folder of pictures has the name that the desktop gives it', async (t) => {
  const world = worldOf(t, ['home/.config', 'home/Bilder/Screenshots', 'home/Kuvat/Screenshots'])
  writeFileSync(world.at('home/.config/user-dirs.dirs'), 'XDG_PICTURES_DIR="$HOME/Bilder"\n')
  t.strictSame(foundFolders(world), [world.at('home/Bilder/Screenshots')])
  world.env['XDG_PICTURES_DIR'] = world.at('home/Kuvat')
  t.strictSame(foundFolders(world),
    ['home/Kuvat/Screenshots', 'home/Bilder/Screenshots'].map(world.at))
})
