/** What changes between the look at a publication and the yes to it. */
import { rmSync } from 'node:fs'
import { asked, files, withSite } from '../../../support/codehost/publish-lines.js'
import type { Publishing } from '../../../support/codehost/publishing.js'
import { failure, must } from '../../../support/must.js'
import { t } from '../../../support/tests-in-slices.js'

const asTheBase = { 'docs/plan.md': '# Plan\n\n- one\n- two\n' }

/** What changes while a person thinks. */
const changes: Readonly<Record<string, (at: Publishing) => unknown>> = {
  'a file': (at) => at.folder({ 'README.md': '# Another\n' }, 'site'),
  'a file more': (at) => at.folder({ 'new.txt': 'new\n' }, 'site'),
  'a file that the base has as well': (at) => at.folder(asTheBase, 'site'),
  'a file that was as the base has it': (at) => at.folder({ '.gitignore': 'other/\n' }, 'site'),
  'a file in place of another': (at) => {
    rmSync(at.place.path('site/src/new.ts'))
    at.folder(asTheBase, 'site')
  },
  'a file less': (at) => rmSync(at.place.path('site/src/new.ts')),
  'a large file': (at) => at.folder({ 'README.md': Buffer.alloc(3 << 20, 'x') }, 'site'),
  'no folder': (at) => rmSync(at.place.path('site'), { recursive: true }),
  'the consent': async (at) => must(await at.run(['codehost', 'revoke', at.id])),
  'another consent': async (at) => must(await at.consentToPublish()),
  'the mode': async (at) => must(await at.run(['codehost', 'mode', at.id, 'reconcile_only'])),
  'the token': async (at) => must(await at.run(['codehost', 'connect', '--connection', at.id,
    '--token-file', at.sandbox.keyFiles.codehost, '--expected-revision',
    String(at.connection().revision)])),
  'the session': async (at) => {
    must(await at.run(['logout']))
    must(await at.run(['login']))
  },
  'the job, given up': async (at) => {
    const [job] = await at.json(['codehost', 'jobs', '--limit', '1'])
    must(await at.run(['codehost', 'cancel', job.id]))
  },
  'the job, approved by another': async (at) => {
    const [{ id, preview_digest: digest }] = await at.json(['codehost', 'jobs', '--limit', '1'])
    must(await at.run(['codehost', 'approve', id, '--preview-digest', digest]))
  },
}

t.test('C-079 what changed between the look and the yes sends nothing: the folder, the consent, the connection, the session, the job', async (t) => {
  const at = await withSite(t)
  for (const [what, change] of Object.entries(changes)) {
    at.folder({ ...files, '.gitignore': 'build/\n' }, 'site')
    const ran = await asked(at, [async () => {
      await change(at)
      return true
    }])
    t.not(failure(ran).status, 0, what)
    t.equal(at.posts().length, 0, what)
    if (what.includes('file')) t.equal(failure(ran).code, 'source_not_as_shown', what)
    if (what.includes('another by')) t.equal(failure(ran).code, 'job_changed', what)
    rmSync(at.place.path('site'), { recursive: true, force: true })
    must(await at.consentToPublish())
  }
})
