import { join } from 'node:path'
import type { Sandbox } from '../../../sandbox/start.js'
import type { Stage } from './stage.js'

/** Room for the demo's pictures and texts; one request may cost so much. */
const ceiling = '0.50usd'
const bound = '0.02usd'

/** Where the demo keeps its pictures and the page. */
export interface ShotsPlaces {
  readonly folder: string
  readonly page: string
}

/** Places below the demo's folder. */
export const shotsPlaces = (dir: string): ShotsPlaces =>
  ({ folder: join(dir, 'screens'), page: join(dir, 'report.html') })

/** Whom a line asks for a number that it needs. */
type Asked = Pick<Stage, 'ask'>

const revision = async (stage: Asked): Promise<string> => {
  const { policy_revision: number } = await stage.ask(['gateway', 'show']) as {
    policy_revision: number
  }
  return String(number)
}

const takeIn = async (stage: Stage, { folder }: ShotsPlaces): Promise<void> => {
  await stage.play({
    say: 'Now screenshots. Six made-up ones: a repeat, one changed line and a copy among them.',
    argv: ['sandbox', 'samples', folder],
  })
  await stage.play({
    say: 'Name their folder. It is only ever read.',
    argv: ['shots', 'setup', '--folder', folder],
  })
  await stage.play({
    say: 'Scan it. Every gate is closed, so each image stays here, with the reason.',
    argv: ['shots', 'scan'],
  })
  await stage.play({
    say: 'Why the repeat was not taken in.',
    argv: ['shots', 'show', join(folder, 'editor-again.png')],
  })
  await stage.play({
    say: 'And why a screen with one changed line was.',
    argv: ['shots', 'show', join(folder, 'editor-one-line.png')],
  })
}

/** The line that opens every gate: switches, controls and a budget for a day. */
export const openedGates: readonly string[] = [
  'shots', 'setup', '--analysis', 'on', '--cloud-upload', 'on', '--fallbacks', 'deny',
  '--data-collection', 'deny', '--zdr', 'on', '--budget', '0.20usd',
  '--budget-requests', '40', '--request-cost-bound', bound,
]

/** The line that sets up the model that sees pictures, and consents to it. */
export const seeingModel = async (stage: Asked, sandbox: Sandbox): Promise<readonly string[]> => [
  'gateway', 'setup', '--slot', 'screenshot', '--model', 'gateway/acme/sees-1',
  '--upstream-allow', 'acme-host', '--request-cost-bound', bound,
  '--api-key-file', sandbox.keyFiles.gateway, '--spend-ceiling', ceiling,
  '--consent', 'gateway.vision', '--acknowledge',
  '--expected-revision', await revision(stage),
]

/** The same of the model that writes. */
export const writingModel = async (stage: Asked): Promise<readonly string[]> => [
  'gateway', 'setup', '--slot', 'report', '--model', 'gateway/acme/writes-1',
  '--upstream-allow', 'acme-host', '--request-cost-bound', bound,
  '--consent', 'gateway.digest', '--consent', 'gateway.report', '--acknowledge',
  '--expected-revision', await revision(stage),
]

const openGates = async (stage: Stage, sandbox: Sandbox): Promise<void> => {
  await stage.play({
    say: 'Open the gates, each by its name: switches, controls and a budget for a day.',
    argv: openedGates,
  })
  await stage.play({
    say: 'Set up the model that sees pictures, and consent to it.',
    argv: await seeingModel(stage, sandbox),
  })
  await stage.play({
    say: 'And the model that writes, for digests and conclusions.', argv: await writingModel(stage),
  })
  await stage.play({
    say: 'Prove both with one small request each; their names are what replies must say.',
    argv: ['gateway', 'prove', '--all'],
  })
}

const analyse = async (stage: Stage): Promise<void> => {
  await stage.play({
    say: 'A consent reaches forward only: what was taken in before it stays blocked.',
    argv: ['shots', 'analyze'],
  })
  await stage.play({
    say: 'Older ones are released by name, after count and price were shown.',
    argv: ['shots', 'reanalyze', '--blocked', '--reason', 'manual_operator_request', '--yes'],
  })
  await stage.play({ say: 'What there is now.', argv: ['shots', 'list'] })
}

const report = async (stage: Stage, { page }: ShotsPlaces): Promise<void> => {
  await stage.play({
    say: 'Digests: the writing model sums up each window from the analyses, never from pictures.',
    argv: ['shots', 'digest'],
  })
  await stage.play({
    say: 'Once more: nothing changed, so nothing is bought.', argv: ['shots', 'digest'],
  })
  await stage.play({
    say: 'A report with a conclusion, and a page for the browser.',
    argv: ['shots', 'report', '--conclude', '--html', page],
  })
  await stage.play({ say: 'Where everything stands, and what it cost.', argv: ['shots', 'status'] })
}

/** The part of the demo about screenshots. */
export const playShots = async (
  stage: Stage, sandbox: Sandbox, places: ShotsPlaces,
): Promise<void> => {
  await takeIn(stage, places)
  await openGates(stage, sandbox)
  await analyse(stage)
  await report(stage, places)
}
