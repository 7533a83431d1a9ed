import t from 'tap'
import { nameOfPlace, parsePlaceAddress } from '../../../src/state/place/address.js'

const ca = 'a certificate'

t.test('the address of a place is its user, host, port and database', async (t) => {
  const read: Readonly<Record<string, readonly [string, number, string, string]>> = {
    'postgres://ops@db.example:6432/sallyport': ['db.example', 6432, 'ops', 'sallyport'],
    'postgres://ops@DB.example/sallyport': ['db.example', 5432, 'ops', 'sallyport'],
    'postgres://a.b%40c@10.0.0.1:1/x-y': ['10.0.0.1', 1, 'a.b@c', 'x-y'],
    'postgres://ops@[2001:db8::1]:5433/s': ['2001:db8::1', 5433, 'ops', 's'],
  }
  for (const [text, [host, port, user, database]] of Object.entries(read)) {
    t.strictSame(parsePlaceAddress(text, ca), { host, port, user, database }, text)
  }
  t.equal(nameOfPlace(parsePlaceAddress('postgres://ops@db.example:6432/s', ca)), 'db.example/s')
})

t.test('an address with a password is refused, and not repeated', async (t) => {
  for (const text of [
    'postgres://ops:secret@db.example/s', 'postgres://ops:@db.example/s',
    'postgresql://ops:se/cret@db.example/s', 'POSTGRES://ops:se@cret@db.example/s?a=b',
  ]) {
    try {
      parsePlaceAddress(text, ca)
      t.fail('it was taken')
    } catch (error) {
      t.hasStrict(error, { kind: 'rejected', code: 'password_on_command_line' }, text)
      t.notMatch(JSON.stringify(error), /secret/)
    }
  }
})

t.test('whatever else is written in another way is no address', async (t) => {
  for (const text of [
    '', 'postgres://', 'postgres://db.example/s', 'postgres://ops@db.example',
    'postgres://ops@db.example/', 'postgres://ops@db.example/s?sslmode=disable',
    'postgres://ops@db.example/s#x', 'postgres://ops@db.example/s/t', 'http://ops@db.example/s',
    'postgresql://ops@db.example/s', 'postgres://ops@db.example:0/s',
    'postgres://ops@db.example:65536/s', 'postgres://ops@a,b/s', 'postgres://ops@%2Ftmp/s',
    'postgres://o%00s@db.example/s', 'postgres://o%E0@db.example/s', 'postgres://o s@db.example/s',
    'postgres://ops@db.example/s\n', 'host=db.example user=ops', ' postgres://ops@db.example/s',
    `postgres://${'u'.repeat(64)}@db.example/s`,
  ]) {
    t.throws(() => parsePlaceAddress(text, ca),
      { kind: 'rejected', code: 'place_address_invalid' }, JSON.stringify(text))
  }
})

t.test('only this machine is talked to without TLS', async (t) => {
  for (const host of ['localhost', '127.0.0.1', '127.9.9.9', '[::1]']) {
    t.equal(parsePlaceAddress(`postgres://ops@${host}/s`, null).port, 5432, host)
  }
  for (const host of [
    'db.example', '10.0.0.1', '[::2]', 'localhost.example', '0.0.0.0', '128.0.0.1',
  ]) {
    t.throws(() => parsePlaceAddress(`postgres://ops@${host}/s`, null),
      { kind: 'rejected', code: 'server_ca_needed' }, host)
  }
})
