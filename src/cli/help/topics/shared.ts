/** `sallyport help shared`: what it means that several machines share a state, and what to do. */

/** Text of the topic. */
export const sharedTopic = `A state that several machines share

A state lies in a directory and needs no server. One that several machines share
lies on a PostgreSQL server: one ledger, one policy, one revoke for all of them.
Each machine keeps a replica, which is its state directory, and reads from that.

  $ sallyport init --shared postgres://USER@HOST/DATABASE --server-ca FILE
  $ sallyport state share postgres://USER@HOST/DATABASE --server-ca FILE
  $ sallyport machine invite NAME --to FILE     on the first machine
  $ sallyport machine join FILE                 on the other one
  $ sallyport machine list
  $ sallyport machine retire NAME
  $ sallyport state unshare

The server never has a key. It sees how many records there are, how long, when
they came, the names of machines and which operations are under way. It can
withhold them, and put back an old copy, which is noticed. It can read and forge
nothing. How it is reached lies in keys/<store>.place: its address, certificates
and, sealed, the password. PG* variables, .pgpass and service files change
nothing. Away from loopback there is no connection without TLS.

  place_unreachable  it does not answer: nothing is sent and nothing is written,
                     what only reads goes on, from the replica. What only
                     stops (policy revoke, logout, session revoke, principal
                     disable, edge revoke, codehost revoke and mode, a cancel
                     of what runs) is in force on this machine at once, and
                     says that it reached no other one (stop_out_of_reach)
  machine_retired    another machine retired this one: nothing of it is taken
  server_changed     it is not the server that the state rests on: a standby was
                     promoted, or an older copy was put back. Nothing is written
                     or sent before each machine said how far it had come, by
                     state accept-server, or the former server is back
  clock_apart        the server's clock, by which all is written, cannot be
                     told from here: its answers take too long
  replica_forked     what the server holds does not go on from what is here
  state_too_new      a newer version of the program has written to the state
  of_other_machine   it rests on a folder of another machine: do it there

What this machine knows is told by \`sallyport status\`, without asking anybody.
The server is asked by \`sallyport doctor\`. Folders of screenshots, stages of
publications, timers and the service are those of one machine.

Where the server is gone for good, or this is the only machine and its anchor is
lost: back the replica up (\`state backup DIR\`), move keys/<store>.place away and
put the backup back (\`state restore DIR\`). The state is a directory then.
`
