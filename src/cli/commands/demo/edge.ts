import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fail } from '../../../base/errors.js'
import type { VerbDeps } from '../../verb.js'
import type { ShotsPlaces } from './shots.js'
import type { Stage } from './stage.js'

/** Where the demo keeps what the paired device has and what it gave back. */
interface EdgePlaces extends ShotsPlaces {
  readonly stateDir: string
  /** Folder of the device. */
  readonly device: string
  readonly line: string
  readonly readback: string
}

/** Places below the demo's folder. */
export const edgePlaces = (dir: string, stateDir: string, shots: ShotsPlaces): EdgePlaces => ({
  ...shots, stateDir, device: join(dir, 'device'), line: join(dir, 'pairing.txt'),
  readback: join(dir, 'readback.png'),
})

const pairAndSend = async (stage: Stage, places: EdgePlaces): Promise<void> => {
  await stage.play({
    say: 'Pair a capture device: a one-time line, in a private file.',
    argv: ['edge', 'pair', '--name', 'camera', '--file', places.line],
  })
  await stage.play({
    say: 'On the device: a capture goes into its private spool.',
    argv: ['edge', 'capture', join(places.folder, 'editor-one-line.png')],
  })
  await stage.play({
    say: 'It pairs itself by the line, knows the service by its key, and sends what waits.',
    argv: ['edge', 'daemon', '--once', '--pair-file', places.line],
  })
  await stage.play({ say: 'What came.', argv: ['edge', 'artifacts'] })
  const { artifacts: [sent] } = await stage.ask(['edge', 'artifacts']) as {
    artifacts: readonly { artifact_id: string }[]
  }
  await stage.play({
    say: 'Read it back: the same bytes, out of the sealed store.',
    argv: ['edge', 'artifacts', sent?.artifact_id ?? '', '--out', places.readback],
  })
}

const revokeInTheMiddle = async (
  deps: VerbDeps, stage: Stage, places: EdgePlaces,
): Promise<void> => {
  const { beginSlowUpload } = await import('../../../sandbox/slow-upload.js')
  const text = await readFile(join(places.device, 'pairing.json'), 'utf8')
  const { origin, credential, device_id: device } = JSON.parse(text) as {
    origin: string; credential: string; device_id: string
  }
  const upload = await beginSlowUpload({
    origin, credential, sequence: 1_000, capturedAt: new Date(deps.clock.wallMs()).toISOString(),
    certificate: await readFile(join(places.stateDir, 'run', 'service-certificate.pem'), 'utf8'),
    bytes: await readFile(join(places.folder, 'editor-again.png')),
  })
  await stage.play({
    say: 'Half of another upload has arrived. Now its pairing ends.',
    argv: ['edge', 'revoke', device],
  })
  const { status, code } = await upload.finish()
  stage.say(`The upload that was under way was answered ${status} (${code})`)
  if (status !== 401) {
    throw fail.failed('demo_step_failed', 'An upload outlived the pairing of its device.')
  }
  await stage.play({ say: 'Not a byte of it is kept.', argv: ['edge', 'artifacts'] })
}

/** The part of the demo about the service and a paired device. */
export const playEdge = async (deps: VerbDeps, stage: Stage, places: EdgePlaces): Promise<void> => {
  if (!existsSync(places.folder)) await stage.ask(['sandbox', 'samples', places.folder])
  const service = await stage.begin({
    say: 'Serve what programs and devices need over HTTPS, with a page for a browser.',
    argv: ['serve', '--page'],
  })
  try {
    await pairAndSend(stage, places)
    await revokeInTheMiddle(deps, stage, places)
  } finally {
    await service.end()
  }
}
