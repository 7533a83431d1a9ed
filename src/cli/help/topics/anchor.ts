/** `sallyport help anchor`: what the file beside the key says, and what to do. */

/** Text of the topic. */
export const anchorTopic = `The anchor

One small sealed file in the key folder, outside the state directory, remembers
how far the store had come: each publication of the policy, each contact, and
each act that narrows or decides (a session ended, an owner disabled, a consent
withdrawn, a charge settled, a review, a setting saved). It is how an old copy
of the state is noticed: a copy from before a revoke would otherwise bring dead
consents and sessions back. Unless the anchor says ok nothing is contacted,
nobody logs in, and nothing private is shown, reviewed or settled. What looks
after a state works whatever it says: status, doctor, state path, check, backup,
repair and restore, and policy revoke.

  ok        it agrees with the log
  behind    the state is older than the anchor: an older copy was put back, or
            the newest part of the log was lost
  forked    both went on apart: two copies of the state were used with one key
            folder
  missing   there is no anchor file
  forged    the file was not sealed with the key of this store

What to do, in this order:
  1. Where a newer copy of the state directory exists, put that one back whole.
     Nothing else is lost then, and the anchor says ok again.
  2. A lost key folder: put its copy back, both files.
  3. Else make the state that is here the one that counts. This revokes the
     policy, ends every session and counts each unfinished contact as unknown:
       $ sallyport state backup DIR
       $ sallyport state restore DIR
     As after every restore the whole ceiling is held as unknown until you have
     seen the provider's bill, and every other owner waits until you say so:
       $ sallyport ledger reservations
       $ sallyport ledger settle OPERATION --amount USD
       $ sallyport principal enable NAME
     Then log in and grant again what should be reached. Any idempotency key may
     have been used in a lost part of the log: each that is named counts as
     spent until you say otherwise; a request without one is not concerned:
       $ sallyport state keys
       $ sallyport state keys --release RANGE

On a shared state the server has every record, and a machine that lacks some
follows them. An anchor that stays behind says that the server lost what this
machine had seen, and nobody writes there. Put the server's newest copy back. Or
go on without, on another machine; it counts as a restore:
       $ sallyport state accept-server --without NAME
Where an anchor is lost alone, retire its machine on another one:
       $ sallyport machine retire NAME
Either way the machine joins anew, in new directories:
       $ sallyport machine invite NAME --to FILE
Where this is the only machine, a backup of it becomes a directory of its own:
see sallyport help shared.

See: sallyport state check, sallyport ledger reservations
`
