import { userInfo } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { accountHome, homeInPasswd } from '../../src/shots/source/account-home.js'

const passwd = 'root:x:0:0:root:/root:/bin/sh\nmaria:x:1000:1000:M,,:/home/maria:/bin/sh\n'

t.test('the home of a user id is the sixth field of its row, and nobody else has it', async (t) => {
  t.equal(homeInPasswd(passwd, 1000), '/home/maria')
  t.equal(homeInPasswd(passwd, 0), '/root')
  t.equal(homeInPasswd(passwd, 100), null)
  t.equal(homeInPasswd('x:x:7:7::', 7), null)
  t.equal(homeInPasswd('', 0), null)
})

t.test('S-057 the account has its home whatever the file of accounts holds', async (t) => {
  const { homedir } = userInfo()
  t.equal(accountHome(), homedir)
  t.equal(accountHome(join(t.testdir(), 'none')), homedir)
  const other = t.testdir({ passwd: `me:x:${process.getuid?.()}:0::/elsewhere:/bin/sh` })
  t.equal(accountHome(join(other, 'passwd')), '/elsewhere')
})
