import { pathFrom } from '../../../base/user-folders.js'
import { sandboxSamples } from '../../../sandbox/sandbox-contract.js'
import { verb } from '../../verb.js'

export const samples = verb(sandboxSamples, {
  summary: 'write sample screenshots into a folder',
  description:
    'Writes six made-up screenshots of real sizes, taken within the last hour, to try the '
    + 'screenshot source. They hold a repeat, one changed line and a plain copy. Existing files '
    + 'are never replaced.',
  examples: ['$ sallyport sandbox samples /tmp/screens'],
  damage: 'unasked',
  exits: ['conflict'],
  flags: (command) => command.argument('<folder>', 'where to write them'),
  text: (files) => files.map(({ path, becomes }) => `${path}: ${becomes}\n`).join(''),
  run: async ({ folder }, deps) => {
    const { writeSamples } = await import('../../../sandbox/samples/write.js')
    return writeSamples(pathFrom(deps.cwd, folder), deps.clock.wallMs())
  },
})
