/** `sallyport help profile`: the built-in deployment profile and the form of a profile file. */
import { caBytesMax, profileBytesMax } from '../../../governance/profile-file.js'
import { defaultProfile } from '../../../governance/profile.js'

const { provider, gateway, codehost } = defaultProfile

/** Text of the topic. */
export const profileTopic = `The deployment profile

It names the one text provider, its model, the one model gateway and the one
code host that a state directory may ever reach. init seals it; no flag,
variable or setting changes it later. Another provider means another state
directory.

Without --profile, init seals the built-in one:
  provider  ${provider.name} at ${provider.base_url}
  model     ${provider.model_id}
  gateway   ${gateway?.base_url ?? 'none'}
  code host ${codehost?.base_url ?? 'none'}

A profile file is one JSON object of at most ${profileBytesMax} bytes, read strictly:
  {
    "schema": "sallyport.profile.v1",
    "name": "my-provider",
    "provider": {
      "name": "my-provider",
      "base_url": "https://provider.example/v1",
      "model_id": "model-7b"
    },
    "gateway": { "base_url": "https://gateway.example/api/v1" },
    "codehost": { "base_url": "https://api.host.example" },
    "ca_file": "ca.pem"
  }

  provider.base_url  https, the path /v1 and nothing after it; questions go to
                     BASE/chat/completions, bills are read from
                     BASE/billing/costs
  gateway            optional; https, the path /api/v1
  codehost.base_url  optional; https, no path: a host that serves its interface
                     below one, as servers of your own do, is out of reach (help
                     real-key)
  ca_file            optional; one PEM file of at most ${caBytesMax} bytes, relative
                     to the profile. Only where every host is loopback:
                     elsewhere the roots that Node brings decide, and nothing
                     can add to them. Its bytes are sealed too, the file is not
                     read again.

For a rehearsal \`sallyport sandbox start\` writes a profile and says where it
lies.
  $ sallyport init --profile ./profile.json
`
