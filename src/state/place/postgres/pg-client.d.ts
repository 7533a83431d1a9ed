/** The client of `pg` by its file: the package's entry would take another driver by a variable. */
declare module 'pg/lib/client.js' {
  import { Client } from 'pg'
  export = Client
}
