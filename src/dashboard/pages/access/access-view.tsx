import { MAX_PERSON_NAME_LENGTH, ROLES } from '../../../model/people/identity.js'
import type { ApiToken, CreatedToken } from '../../../people/api-tokens.js'
import type { Rendered, Visit } from '../../define.js'
import { href } from '../../links/href.js'
import { CodeBox } from '../../ui/code-box.js'
import { Empty } from '../../ui/empty.js'
import { ActionForm, SelectField, TextField } from '../../ui/forms.js'
import { PageHead } from '../../ui/layout/page-head.js'
import { Menu } from '../../ui/menu.js'
import { Time } from '../../ui/time.js'

export const ACCESS_PATH = '/settings/access'

interface AccessProps {
  tokens: readonly ApiToken[]
  visit: Visit
  /** Newly created token, with its secret. */
  created?: CreatedToken
}

export function AccessView({ tokens, visit, created }: AccessProps): Rendered {
  const usable = tokens.filter(({ state }) => state !== 'revoked')
  const revoked = tokens.filter(({ state }) => state === 'revoked')
  return (
    <>
      <PageHead title="Access" context="API tokens for scripts, builds and agents.">
        <CreateToken visit={visit} />
      </PageHead>
      <div class="stack">
        {created && <NewToken created={created} visit={visit} />}
        {usable.length === 0 ? (
          <Empty title="No API tokens yet">
            Create a token to call the dashboard from a script. It is sent as <code>Authorization: Bearer</code>.
          </Empty>
        ) : (
          <TokenList tokens={usable} visit={visit} />
        )}
        {revoked.length > 0 && (
          <section aria-labelledby="revoked-title">
            <h2 id="revoked-title">Revoked tokens</h2>
            <TokenList tokens={revoked} visit={visit} />
          </section>
        )}
      </div>
    </>
  )
}

const EXPIRY_OPTIONS = [
  ['7', 'In 7 days'],
  ['30', 'In 30 days'],
  ['90', 'In 90 days'],
  ['365', 'In 1 year'],
  ['', 'Never'],
] as const

const ROLE_TEXTS = { viewer: 'Viewer: read', responder: 'Responder: read and triage', admin: 'Admin: everything' }

function CreateToken({ visit }: { visit: Visit }) {
  return (
    <Menu label="Create token" primary>
      <ActionForm visit={visit} to={ACCESS_PATH} submit="Create" primary>
        <TextField name="name" label="Name" required maxlength={MAX_PERSON_NAME_LENGTH} placeholder="ci" />
        <SelectField
          name="role"
          label="Role"
          options={ROLES.map((role) => [role, ROLE_TEXTS[role]] as const)}
          value="viewer"
        />
        <SelectField name="expires_in_days" label="Expires" options={EXPIRY_OPTIONS} value="90" />
      </ActionForm>
    </Menu>
  )
}

function NewToken({ created, visit }: { created: CreatedToken; visit: Visit }) {
  return (
    <section class="card new-token" aria-labelledby="new-token-title">
      <h2 id="new-token-title">Token created</h2>
      <p>
        Copy the token <bdi>{created.name}</bdi> now. It is not stored and cannot be shown again.
      </p>
      <CodeBox id="new-token" label="Copy token">
        {created.token}
      </CodeBox>
      <p class="page-tools">
        <a class="button" href={href(visit, ACCESS_PATH)}>
          Done
        </a>
      </p>
    </section>
  )
}

function TokenList({ tokens, visit }: AccessProps) {
  const isDuplicate = ({ name }: ApiToken) => tokens.filter((token) => token.name === name).length > 1
  return (
    <ul>
      {tokens.map((token) => (
        <Token token={token} isDuplicate={isDuplicate(token)} visit={visit} />
      ))}
    </ul>
  )
}

function Token({ token, isDuplicate, visit }: TokenProps & { isDuplicate: boolean }) {
  return (
    <li class="record">
      <div class="record-main">
        <p class="token-name">
          <bdi class="record-title">{token.name}</bdi> <span class="badge">{token.role}</span>
          {token.state === 'expired' && <span class="badge token-expired">expired</span>}
        </p>
        <p class="meta muted">
          <Origin token={token} visit={visit} />
          {' · '}
          <Validity token={token} visit={visit} />
          {' · '}
          <LastUse token={token} visit={visit} />
        </p>
        {isDuplicate && (
          <p class="meta">
            Two tokens have this name, and the audit log cannot distinguish them. Rename the token in{' '}
            <code>api_tokens</code>, or revoke the other token.
          </p>
        )}
      </div>
      {token.id !== null && token.state !== 'revoked' && <RevokeToken token={token} visit={visit} />}
    </li>
  )
}

interface TokenProps {
  token: ApiToken
  visit: Visit
}

function Origin({ token: { created_at, created_by }, visit }: TokenProps) {
  if (created_at === null)
    return (
      <>
        Read-only, from the option <code>api_tokens</code>
      </>
    )
  return (
    <>
      Created <Time iso={created_at} visit={visit} /> by <bdi>{created_by}</bdi>
    </>
  )
}

function Validity({ token: { revoked_at, expires_at, state }, visit }: TokenProps) {
  const [text, time] =
    revoked_at !== null ? ['Revoked', revoked_at] : [state === 'expired' ? 'Expired' : 'Expires', expires_at]
  if (time === null) return 'Does not expire'
  return (
    <>
      {text} <Time iso={time} visit={visit} />
    </>
  )
}

function LastUse({ token: { id, last_used_at }, visit }: TokenProps) {
  // The time of use cannot be stored for tokens in the configuration.
  if (id === null) return <span title="Uses of tokens in the configuration are not recorded">Last use –</span>
  if (last_used_at === null) return 'Never used'
  return (
    <>
      Last used <Time iso={last_used_at} visit={visit} />
    </>
  )
}

function RevokeToken({ token, visit }: TokenProps) {
  return (
    <Menu label="Revoke">
      <ActionForm visit={visit} to={`${ACCESS_PATH}/${token.id}/revoke`} submit="Revoke token">
        <p>
          Requests with the token <bdi>{token.name}</bdi> will fail. This cannot be undone.
        </p>
      </ActionForm>
    </Menu>
  )
}
