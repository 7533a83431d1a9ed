/** The demo in one minute: a question, a revoke, and a folder that becomes the page of a day. */
import { exitStatus } from '../../../base/outcome.js'
import type { Sandbox } from '../../../sandbox/start.js'
import { alphaSetup } from './alpha.js'
import { openedGates, seeingModel, writingModel, type ShotsPlaces } from './shots.js'
import type { Stage } from './stage.js'

/** Lines of the report that are shown; its page has them all. */
const reportHead = 10

const askAndRevoke = async (stage: Stage, sandbox: Sandbox): Promise<void> => {
  stage.say('')
  await stage.ask(['init', '--owner', 'demo', '--profile', sandbox.profileFile])
  await stage.ask(['login'])
  await stage.ask(alphaSetup(sandbox))
  stage.say('Already done here: a state directory, a login, a key, a ceiling of six cents, and '
    + 'your consent to what the provider sees. `sallyport demo alpha` shows each step.')
  await stage.play({
    say: '1. Ask one question. The charge is read back, and a receipt says what was sent where.',
    argv: ['alpha', 'ask', '-'], stdin: 'What is a sally port?',
  })
  await stage.play({ say: '2. Stop everything with one command.', argv: ['policy', 'revoke'] })
  await stage.play({
    say: 'The next question is refused. Nothing was sent, nothing was spent.',
    argv: ['alpha', 'ask', '-'], stdin: 'Still there?', status: exitStatus.unauthorized,
  })
}

const becomesPage = async (
  stage: Stage, sandbox: Sandbox, { folder, page }: ShotsPlaces,
): Promise<void> => {
  await stage.ask(['sandbox', 'samples', folder])
  await stage.ask(['shots', 'setup', '--folder', folder])
  await stage.ask(openedGates)
  await stage.ask(await seeingModel(stage, sandbox))
  await stage.ask(await writingModel(stage))
  await stage.ask(['gateway', 'prove', '--all'])
  await stage.play({
    say: '3. Read a folder of six screenshots. A copy and a repeat are left out; nothing leaves '
      + 'this machine yet.',
    argv: ['shots', 'scan'],
  })
  await stage.play({
    say: '4. Let a model look at the new ones. Since the stop you consented anew, to pictures '
      + 'alone, with a budget for a day (`sallyport demo shots` shows how).',
    argv: ['shots', 'analyze'],
  })
  await stage.play({
    say: '5. Sum up each half hour from those texts. No picture is sent for that.',
    argv: ['shots', 'digest'],
  })
  await stage.play({
    say: 'Write the page of the day. Open it in your browser.',
    argv: ['shots', 'report', '--html', page], head: reportHead,
  })
}

/** The story: at most 100 lines on a screen of 80 columns. */
export const playStory = async (
  stage: Stage, sandbox: Sandbox, places: ShotsPlaces,
): Promise<void> => {
  await askAndRevoke(stage, sandbox)
  await becomesPage(stage, sandbox, places)
}
