/** Which sending a save of settings closes before it is written. */
import t from 'tap'
import { belowFolder, closedBySettings } from '../../../src/shots/source/closing.js'
import { devicePlace } from '../../../src/shots/source/folder-digest.js'
import { unsetSettings, type SavedShotSettings } from '../../../src/shots/source/settings.js'

const open: SavedShotSettings = {
  ...unsetSettings, analysis: 'on', cloud_upload: 'on', fallbacks: 'deny',
  data_collection: 'deny', zdr: 'on', recursive: true, screenshot_folder: 'one',
}
const folders = {
  saved: ({ screenshot_folder: folder }: SavedShotSettings) => folder, known: ['one', 'two'],
}
const folder = (target: string) => ({ kind: 'folder', target })

t.test('a folder that is left is closed with all that lies below it; subfolders that are left out, in every folder', async (t) => {
  const closes = (change: Partial<SavedShotSettings>, before: Partial<SavedShotSettings> = {}) =>
    closedBySettings({ ...open, ...before }, { ...open, ...before, ...change }, folders)
  t.strictSame(closes({ budget_requests: 1 }), [])
  t.strictSame(closes({ screenshot_folder: 'two' }), [folder('one'), folder(belowFolder('one'))])
  t.strictSame(closes({ screenshot_folder: 'two' }, { recursive: false }),
    [folder('one'), folder(belowFolder('one'))])
  t.strictSame(closes({ screenshot_folder: 'two' }, { screenshot_folder: null }), [])
  t.strictSame(closes({ recursive: false }),
    [folder(belowFolder('one')), folder(belowFolder('two'))])
  t.strictSame(closes({ zdr: 'off', screenshot_folder: 'two' }),
    [{ kind: 'shots_purpose', target: null }])
  t.strictSame(closes({ screenshot_folder: 'two' }, { analysis: 'off' }), [], 'closed before')
})

t.test('a device that is named no more, or under another consent, is closed, and no other', async (t) => {
  const naming = (consent_id: string, ...ids: string[]): SavedShotSettings => ({
    ...open, devices: {
      consent_id, owner: 'prn_1', outlived: null,
      named: ids.map((device_id) => ({ device_id, above_sequence: 0 })),
    },
  })
  const place = (id: string) => folder(devicePlace(id).folderDigest)
  const closes = (after: SavedShotSettings) =>
    closedBySettings(naming('con_1', 'a', 'b'), after, folders)
  t.strictSame(closes(naming('con_1', 'a', 'b', 'c')), [])
  t.strictSame(closes(naming('con_1', 'b')), [place('a')])
  t.strictSame(closes({ ...open, devices: null }), [place('a'), place('b')])
  t.strictSame(closes(naming('con_2', 'a', 'b')), [place('a'), place('b')])
})
