import { createHash } from 'node:crypto'
import { outsideSamples } from './outside-samples.js'
import { base64Secret, placeSecret } from './shapes.js'

/** Secret in a text or a structured value, in a form that applications use. */
export type Sample = { kind: string; secret: string } & ({ text: string } | { data: unknown })

/** Creates the secret of a sample, deterministic and unique per sample. */
let sampleNumber = 0
/** Generated secret like those of providers. */
const draw = (length?: number) => base64Secret(sampleNumber++, length)

/** Text with a secret of any shape. */
function textSample(kind: string, form: (secret: string) => string): Sample {
  const { secret, value } = placeSecret(sampleNumber++, form)
  return { kind, secret, text: value }
}

/** Value with a secret of any shape. */
function dataSample(kind: string, form: (secret: string) => unknown): Sample {
  const { secret, value } = placeSecret(sampleNumber++, form)
  return { kind, secret, data: value }
}

const KEYS = [
  'password', 'passwd', 'pwd', 'passphrase', 'passcode', 'secret', 'client secret', 'app secret', 'token', 'access token', 'refresh token', 'id token',
  'csrf token', 'reset token', 'api key', 'api secret', 'private key', 'secret key', 'access key', 'account key', 'encryption key', 'signing key',
  'master key', 'hmac key', 'shared key', 'symmetric key', 'crypto key', 'stripe key', 'session key', 'auth key', 'auth code', 'authorization',
  'cookie', 'credentials', 'session id', 'jwt', 'otp', 'pin', 'cvv', 'security code', 'verification code', 'recovery codes', 'backup codes',
  'security answer', 'seed phrase', 'mnemonic', 'psk', 'pw', 'pswd', 'creds', 'client assertion', 'saml response', 'code verifier', 'iban', 'card number',
  'database url', 'connection string', 'new password', 'password confirmation', 'user password',
] // biome-ignore format: a word list reads best as lines of words

const capital = (word: string) => word[0]?.toUpperCase() + word.slice(1)
const STYLES: readonly ((words: string[]) => string)[] = [
  (words) => words.join('_'),
  (words) => words.join('-'),
  ([first = '', ...rest]) => first + rest.map(capital).join(''),
  (words) => words.map(capital).join(''),
  (words) => words.join('_').toUpperCase(),
  (words) => `db.${words.join('.')}`,
  (words) => `x-${words.join('-')}`,
  (words) => `user[${words.join('_')}]`,
  (words) => `${words.join('_')}2`,
]

const CONCATENATED_KEYS =
  'apitoken usertoken mytoken logintoken resettoken apisecret usersecret dbpass userpass newpass oldpass rootpass adminpass authkey authcode sessionkey masterkey accesstoken apikey userpwd dbpwd awscreds authcookie storepass keypass jwtsecret appsecret bearertoken sharedkey hmackey clientsecret creditcard PGPASSWORD MYSQL_PWD JSESSIONID PHPSESSID'.split(
    ' ',
  )
const LANGUAGES =
  'passwort kennwort contraseña contrasena mot_de_passe motdepasse mdp senha palavra_passe wachtwoord lösenord passord adgangskode salasana hasło heslo jelszó parola şifre lozinka geslo пароль парола κωδικός סיסמה كلمة_المرور पासवर्ड รหัสผ่าน mật_khẩu kata_sandi 密码 密碼 口令 用户密码 パスワード 暗証番号 비밀번호 neues_passwort nuevaContraseña'.split(
    ' ',
  )

function* keyedData(): Generator<Sample> {
  const add = (key: string) => dataSample('key', (secret) => ({ [key]: secret }))
  for (const key of KEYS) for (const style of STYLES) yield add(style(key.split(' ')))
  for (const key of [...CONCATENATED_KEYS, ...LANGUAGES]) yield add(key)
}

const TEXT_FORMS: readonly ((key: string, secret: string) => string)[] = [
  (key, secret) => `sign-in failed: ${key}=${secret}`,
  (key, secret) => `request rejected (${key}: ${secret})`,
  (key, secret) => `{"user":"anna","${key}":"${secret}","page":2}`,
  (key, secret) => `{ user: 'anna', ${key}: '${secret}' }`,
  (key, secret) => JSON.stringify(JSON.stringify({ user: 'anna', [key]: secret })),
  (key, secret) => JSON.stringify({ body: JSON.stringify({ inner: JSON.stringify({ [key]: secret }) }) }),
  (key, secret) => `{:user=>"anna", :${key}=>"${secret}"}`,
  (key, secret) => `${key} =   ${secret}`,
  (key, secret) => `${key} :\t\t${secret}`,
  (key, secret) => `${key}\t${secret}`,
  (key, secret) => `${key}       ${secret}`,
  (key, secret) => `GET https://api.example/v1/items?page=2&${key}=${secret}&sort=asc 401`,
  (key, secret) => `GET /sign-in?next=${encodeURIComponent(`/a?b=1&${key}=${secret}`)} failed`,
  (key, secret) => `name=anna&user[${key}]=${secret}&remember=1`,
  (key, secret) => `<login><user>anna</user><${key}>${secret}</${key}></login>`,
  (key, secret) => `- name: ${key}\n  value: ${secret}`,
  (key, secret) => `[{"name":"user","value":"anna"},{"name":"${key}","value":"${secret}"}]`,
  (key, secret) => `{"value":"${secret}","msg":"Invalid value","path":"${key}","location":"body"}`,
  (key, secret) => `entries: [["user","anna"],["${key}","${secret}"]]`,
  (key, secret) => `rawHeaders: [ 'Host', 'shop.example', '${key}', '${secret}' ]`,
  (key, secret) => `<input name="${key}" type="text" value="${secret}">`,
  (key, secret) => `--b\r\nContent-Disposition: form-data; name="${key}"\r\n\r\n${secret}\r\n--b--`,
  (key, secret) => `run failed: deploy --${key} ${secret} --verbose`,
  (key, secret) => `Map(2) { 'user' => 'anna', '${key}' => '${secret}' }`,
  (key, secret) => `${key.toUpperCase()}="${secret}" node server.js`,
  (key, secret) => `if (${key} === '${secret}') return`,
]
const TEXT_KEYS = [
  'password', 'passwd', 'db_pass', 'api_key', 'apiKey', 'access_token', 'client_secret', 'sessionId', 'x-api-key', 'masterKey', 'usertoken', 'passwort',
  'contraseña', 'senha', 'пароль', '密码',
] // biome-ignore format: a word list reads best as lines of words

function* keyedTexts(): Generator<Sample> {
  for (const key of TEXT_KEYS) for (const form of TEXT_FORMS) yield textSample('text', (secret) => form(key, secret))
  for (const key of [
    'password',
    'passphrase',
    'seed phrase',
    'mnemonic',
    'Passwort',
    'contraseña',
    'mot de passe',
    'пароль',
  ]) {
    yield textSample('phrase', (secret) => `${key}: correct horse ${secret}`)
    yield textSample('phrase', (secret) => `${key} = correct ${secret} battery, retried twice`)
    yield textSample('phrase', (secret) => `${key}： ${secret}`)
  }
}

const PREFIXES = [
  'AKIA', 'ASIA', 'ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_', 'glpat-', 'gldt-', 'glrt-', 'xoxb-', 'xoxp-', 'xapp-1-', 'sk_live_', 'sk_test_', 'rk_live_', 'whsec_',
  'shpat_', 'shpss_', 'dop_v1_', 'hf_', 'hvs.', 'hvb.', 'pypi-AgEI', 'AGE-SECRET-KEY-1', 'npm_', 'sk-', 'sk-proj-', 'sk-ant-api03-', 'AIza', 'ya29.', 'GOCSPX-', 'SG.', 'key-', 'dapi',
  'SK', 'LTAI', 'HRKU-', 'tskey-auth-', 'pscale_tkn_', 'sbp_', 'dp.pt.', 'rubygems_', 'dckr_pat_', 'CCIPAT_', 'PMAK-', 'sq0csp-', 'rzp_live_', 'xkeysib-', 're_', 'r8_', 'gsk_',
  'lsv2_pt_', 'glsa_', 'NRAK-', 'sntrys_', 'lin_api_', 'ntn_', 'secret_', 'figd_', 'CFPAT-', 'phx_', 'fb_', 'eyJ',
] // biome-ignore format: a list of prefixes reads best as lines of prefixes
const HEX_ONLY = new Set(['dapi', 'SK', 'sbp_'])
const CAPITALS_ONLY = new Set(['AKIA', 'ASIA', 'AGE-SECRET-KEY-1'])
const TOKEN_CONTEXTS: readonly ((token: string) => string)[] = [
  (token) => `the provider rejected ${token} as expired`,
  (token) => `GET https://api.example/v1/${token}/items 403`,
  (token) => `{"note":"${token}"}`,
  (token) => `/back?next=${encodeURIComponent(`/a?b=${token}`)}`,
]

/** Part of a token after its prefix, in the alphabet and length of its provider. */
function tokenBody(prefix: string): string {
  if (HEX_ONLY.has(prefix)) return createHash('md5').update(draw()).digest('hex')
  if (CAPITALS_ONLY.has(prefix)) return createHash('md5').update(draw()).digest('hex').toUpperCase().slice(0, 20)
  if (prefix === 'SG.') return `${draw(22)}.${draw(40)}`
  if (prefix === 're_') return `${draw(8)}_${draw(24)}`
  return draw(44)
}

function* tokens(): Generator<Sample> {
  for (const prefix of PREFIXES)
    for (const inContext of TOKEN_CONTEXTS) {
      const secret = tokenBody(prefix)
      yield { kind: 'token', secret, text: inContext(prefix + secret) }
    }
  for (const scheme of ['Bearer', 'bearer', 'Basic'])
    for (const blanks of [' ', '   ', '\t']) {
      const secret = draw(20)
      yield { kind: 'token', secret, text: `sent ${scheme}${blanks}${secret}` }
    }
  const urls = [
    'https://hooks.slack.com/services/T0/B0/', 'https://discord.com/api/webhooks/12/', 'https://acme.webhook.office.com/webhookb2/0a@1b/IncomingWebhook/',
    'https://outlook.office.com/webhook/', 'https://hooks.zapier.com/hooks/catch/12/', 'https://maker.ifttt.com/trigger/x/with/key/', 'https://api.telegram.org/bot123456789:',
    'https://store.example/c?sv=1&sig=', 'https://chat.example/hooks/',
  ] // biome-ignore format: a list of addresses reads best as lines of addresses
  for (const url of urls) {
    const secret = draw(35)
    yield { kind: 'token', secret, text: `POST ${url}${secret} failed` }
  }
  for (const block of [
    'PRIVATE KEY',
    'RSA PRIVATE KEY',
    'EC PRIVATE KEY',
    'OPENSSH PRIVATE KEY',
    'ENCRYPTED PRIVATE KEY',
    'PGP PRIVATE KEY BLOCK',
  ]) {
    const secret = draw(60)
    yield {
      kind: 'private key',
      secret,
      text: `bad key -----BEGIN ${block}-----\n\n${secret}\n-----END ${block}----- in file`,
    }
    const escaped = draw(60)
    yield {
      kind: 'private key',
      secret: escaped,
      text: `{"key":"-----BEGIN ${block}-----\\n${escaped}\\n-----END ${block}-----\\n"}`,
    }
  }
}

const COLUMNS = ['password', 'api_token', 'client_secret', 'passwort', 'session_id', 'dbpass']
const STATEMENTS: readonly ((column: string, secret: string) => string)[] = [
  (column, secret) => `insert into users (name, ${column}) values ('anna', '${secret}')`,
  (column, secret) =>
    `insert into \`users\` (\`${column}\`, \`name\`) values ('${secret}', 'anna'), ('x', 'bob') - ER_DUP_ENTRY`,
  (column, secret) =>
    `INSERT INTO "users" ("id", "${column}", "age") VALUES (DEFAULT, 'it''s ${secret}', 7) RETURNING "id"`,
  (column, secret) => `insert into [users] ([name], [${column}]) values (N'anna', N'${secret}')`,
  (column, secret) => `insert into users (name, ${column}) values ('a', 'b'), ('c, d', '${secret}')`,
  (column, secret) => `insert into users (id, ${column}) select 5, '${secret}' from dual`,
  (column, secret) => `insert into users (id, ${column}) values ($1, md5('${secret}'))`,
  (column, secret) => `update users set ${column} = '${secret}' where id = 5`,
  (column, secret) => `UPDATE \`users\` SET \`name\`='a', \`${column}\`='${secret}' WHERE id=5`,
  (column, secret) => `update users set "${column}" = crypt('${secret}', gen_salt('bf')) where id = 5`,
  (column, secret) => `select * from users where ${column} = '${secret}' and id > 5`,
  (column, secret) => `select * from users where u.${column} in ('${secret}', 'b')`,
  (column, secret) => `select * from users where ${column} like '${secret}%'`,
  (column, secret) => `delete from users where ${column} <> '${secret}'`,
  (column, secret) => `Duplicate entry '${secret}' for key 'users.${column}'`,
  (column, secret) => `Key (${column})=(${secret}) already exists.`,
  (column, secret) =>
    `E11000 duplicate key error collection: shop.users index: ${column}_1 dup key: { ${column}: "${secret}" }`,
]

function* statements(): Generator<Sample> {
  for (const column of COLUMNS)
    for (const statement of STATEMENTS) yield textSample('statement', (secret) => statement(column, secret))
  const otherForms: ((secret: string) => string)[] = [
    (secret) => `alter role shop WITH PASSWORD '${secret}'`,
    (secret) => `CREATE USER 'a'@'%' IDENTIFIED BY '${secret}'`,
    (secret) => `ALTER USER a IDENTIFIED WITH caching_sha2_password BY '${secret}'`,
    (secret) => `SET PASSWORD FOR 'root'@'localhost' = PASSWORD('${secret}')`,
    (secret) => `CREATE ROLE a LOGIN ENCRYPTED PASSWORD '${secret}' VALID UNTIL 'infinity'`,
    (secret) => `create login shop with password = N'${secret}'`,
    (secret) => `Failing row contains (5, anna, ${secret}, null).`,
  ]
  for (const statement of otherForms) yield textSample('statement', statement)
}

function* connections(): Generator<Sample> {
  const schemes = [
    'postgres',
    'postgresql',
    'mysql',
    'mariadb',
    'mongodb',
    'mongodb+srv',
    'redis',
    'rediss',
    'amqp',
    'mssql',
    'ftp',
    'ldaps',
    'smtp',
    'https',
  ]
  const passwords = ['', 'a/', 'a?', 'a#', 'a@', 'a:', 'p/q?']
  for (const scheme of schemes)
    for (const start of passwords)
      yield textSample(
        'connection',
        (secret) => `cannot connect to ${scheme}://shop:${start}${secret}@db.example:5432/x`,
      )
  const otherForms: ((secret: string) => string)[] = [
    (secret) => `dial shop:${secret}@tcp(127.0.0.1:3306)/shop`,
    (secret) => `jdbc:oracle:thin:scott/${secret}@db.example:1521/orcl`,
    (secret) => `Server=db;User Id=sa;Password=${secret};Encrypt=true`,
    (secret) => `host=db user=shop password=${secret} dbname=shop`,
    (secret) => `AccountName=a;AccountKey=${secret}/x+==;EndpointSuffix=core`,
    (secret) => `https://${secret}@o1.ingest.example/42`,
    (secret) => `next=postgres%3A%2F%2Fshop%3A${secret}%40db.example`,
  ]
  for (const form of otherForms) yield textSample('connection', form)
}

const CONTAINERS: readonly ((key: string, secret: string) => unknown)[] = [
  (key, secret) => ({ rawHeaders: ['Host', 'shop.example', key, secret] }),
  (key, secret) => ({
    entries: [
      ['page', '2'],
      [key, secret],
    ],
  }),
  (key, secret) => ({ fields: [{ name: key, value: secret }] }),
  (key, secret) => ({ fields: [{ value: secret, key }] }),
  (key, secret) => ({ header: { key, values: [secret] } }),
  (key, secret) => ({ issues: [{ path: ['user', key], input: secret, message: 'Too short' }] }),
  (key, secret) => ({ errors: [{ type: 'field', value: secret, msg: 'Invalid value', path: key }] }),
  (key, secret) => ({ errors: [{ property: key, value: secret, constraints: {} }] }),
  (key, secret) => ({ map: new Map([[key, secret]]) }),
  (key, secret) => ({ set: new Set([JSON.stringify({ [key]: secret })]) }),
  (key, secret) => ({ headers: new Headers([[key.replaceAll(/[^\w-]/g, ''), secret]]) }),
  (key, secret) => ({ query: new URLSearchParams([[key, secret]]) }),
  (key, secret) => ({ deep: { a: [{ b: { [key]: { c: [secret] } } }] } }),
  (key, secret) => ({ body: JSON.stringify({ a: { [key]: secret } }) }),
  (key, secret) => ({ form: `a=1&${encodeURIComponent(key)}=${secret}&b=2` }),
  (key, secret) => ({ [`{"${key}":"${secret}"}`]: '' }),
  (key, secret) => ({ argv: ['deploy', `--${key}`, secret, '--verbose'] }),
  (key, secret) => ({ cause: new Error(`rejected ${key}=${secret}`) }),
  (key, secret) => ({ class: Object.assign(Object.create({ kind: 'x' }), { [key]: secret }) }),
]

function* containers(): Generator<Sample> {
  for (const key of [
    'password',
    'Authorization',
    'x-api-key',
    'accessToken',
    'client_secret',
    'dbpass',
    'passwort',
    'Set-Cookie',
  ])
    for (const container of CONTAINERS) yield dataSample('container', (secret) => container(key, secret))
  const code = draw(24)
  yield { kind: 'container', secret: code, data: { code, state: 'x' } }
}

function* commands(): Generator<Sample> {
  const lines: ((secret: string) => string)[] = [
    (secret) => `Command failed: curl -u admin:${secret} https://api.example`,
    (secret) => `curl --user admin:${secret} -v https://api.example`,
    (secret) => `curl -s -H "Authorization: Token ${secret}" https://api.example`,
    (secret) => `curl -H 'X-Api-Key: ${secret}' https://api.example`,
    (secret) => `mysql -u root -p${secret} shop`,
    (secret) => `mysqldump --password ${secret} shop`,
    (secret) => `mysqldump --password="${secret} x" shop`,
    (secret) => `sshpass -p ${secret} ssh shop@host`,
    (secret) => `redis-cli -h cache -a ${secret} ping`,
    (secret) => `docker login -u shop -p ${secret} registry.example`,
    (secret) => `mongodump -u shop -p '${secret}' --db shop`,
    (secret) => `sqlcmd -S db -U sa -P ${secret} -Q "select 1"`,
    (secret) => `ldapsearch -x -D cn=a -w ${secret} -b dc=x`,
    (secret) => `keytool -list -storepass ${secret}`,
    (secret) => `wget --http-user=a --http-password=${secret} https://api.example`,
    (secret) => `PGPASSWORD=${secret} psql -h db`,
    (secret) => `openssl pkcs12 -in a.p12 -password ${secret}`,
    (secret) => `7z x a.7z -p${secret}`,
    (secret) => `zip -P ${secret} a.zip a`,
    (secret) => `kubectl create secret generic a --from-literal=password=${secret}`,
  ]
  for (const line of lines) yield textSample('command', line)
}

function* addresses(): Generator<Sample> {
  const words = [
    'reset', 'reset-password', 'password/reset', 'password_resets', 'verify', 'verify-email', 'email/verification', 'confirm', 'confirmation', 'activate', 'invite', 'invitations',
    'unlock', 'recover', 'magic-link', 'unsubscribe', 'tokens', 'share', 'one-time', 'secret',
  ] // biome-ignore format: a word list reads best as lines of words
  const forms: ((word: string, secret: string) => string)[] = [
    (word, secret) => `/${word}/${secret}`,
    (word, secret) => `GET https://shop.example/${word}/${secret}?lang=de failed`,
    (word, secret) => `/users/42/${word}/7/${secret}/edit`,
  ]
  for (const word of words)
    for (const form of forms) {
      const secret = draw(24)
      yield { kind: 'address', secret, text: form(word, secret) }
    }
  for (const name of ['code', 'ticket'])
    for (const sign of ['?', '&']) {
      const secret = draw(24)
      yield {
        kind: 'address',
        secret,
        text: `/callback${sign === '?' ? '' : '?a=1'}${sign}${name}=${secret}&state=open`,
      }
    }
}

/** All samples. Excluded by design: a secret in a sentence ("the password is S"), and a value with a neutral name. */
export function secretSamples(): Sample[] {
  sampleNumber = 0
  return [
    ...keyedData(), ...keyedTexts(), ...tokens(), ...statements(), ...connections(), ...containers(), ...commands(), ...addresses(),
    ...outsideSamples(),
  ] // biome-ignore format: one list
}

/** Lines of source code with secrets, for the source viewer. */
export function secretSourceLines(): { secret: string; line: string }[] {
  sampleNumber = 1_000_000
  const forms: ((secret: string) => string)[] = [
    (secret) => `const config = { pw: "${secret}" }`,
    (secret) => `  dbpass: '${secret}',`,
    (secret) => `  masterKey: \`${secret}\`,`,
    (secret) => `const password = process.env.DB_PASSWORD || '${secret}'`,
    (secret) => `const token = env.API_TOKEN ?? "${secret}"`,
    (secret) => `headers.set('Authorization', '${secret}')`,
    (secret) => `request.setHeader("x-api-key", "${secret}")`,
    (secret) => `if (password === '${secret}') return true`,
    (secret) => `client.setPassword('${secret}')`,
    (secret) => `const db = connect('postgres://shop:a/${secret}@db.example/shop')`,
    (secret) => `const stripe = new Stripe('sk_live_${secret}')`,
    (secret) => `await sql("update users set password = '${secret}'")`,
    (secret) => `// Authorization: Bearer ${secret}`,
    (secret) => `["password", "${secret}"],`,
  ]
  return forms.map((form) => {
    const secret = draw(24)
    return { secret, line: form(secret) }
  })
}
