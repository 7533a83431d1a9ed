import { shotsSetup } from '../../../shots/source/source-contract.js'
import { verb } from '../../verb.js'
import { saveByForm } from './config-form.js'
import { configText } from './config-text.js'

export const setup = verb(shotsSetup, {
  summary: 'set up folder, analysis, budget and renewal of proofs, by a form',
  description:
    'Asks on a terminal for the folder, what may leave it and under which controls, the bounds of '
    + 'spend, and whether jobs renew proofs. Enter keeps what is saved; what is on is never '
    + 'switched off here. The change is shown before it is saved. A script says the same with '
    + '`shots config set` and its flags.',
  examples: ['$ sallyport shots setup'],
  exits: ['rejected', 'conflict', 'locked'],
  text: configText,
  run: async (_request, deps) => saveByForm(deps),
})
