/** Values inserted into the templates. */
const VALUES: Record<string, readonly string[]> = {
  n: ['5', '42', '1337', '20260310', '65536', '0', '318', '7'],
  id: ['8f14e45f-ceea-467f-a9c1-d2f0b1c0a9e4', '507f1f77bcf86cd799439011', '01J9ZQ4W7N8R5T6V2X3Y4Z5A6B', 'ord_1NXWPnCo6bFb1KQto', '184467', 'cus-2291', '3d5f2c1a9be7', '10000001'],
  sha: ['9fceb02d0ae598e95dc970b74767f19372d61af8', 'e83c5163316f89bfbde7d9ab23ca2e25604af290', '1afa9bc', 'dd6d662', '4b825dc642cb6eb9a060e54bf8d69288fbee4904', 'sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae', 'c0ffee', '7110eda4d09e062aa5e4a390b0a572ac0d2c0220'],
  name: ['anna', 'Søren', 'O\'Brien', 'María José', '王小明', 'jean-luc', 'Bob', 'Иван'],
  mail: ['anna@example.com', 'ops@shop.example', 'first.last+tag@mail.example.org', 'a@b.example', 'info@xn--bcher-kva.example', 'noreply@shop.example', 'x@localhost', 'bob@example.net'],
  word: ['compass', 'bypass', 'passenger', 'author', 'keyboard', 'monkey', 'secretary', 'tokenizer'],
  field: ['email', 'first_name', 'quantity', 'postalCode', 'startDate', 'author', 'primary_key', 'shipping_address'],
  table: ['carts', 'orders', 'public.invoices', 'customer_addresses', 'line_items', 'audit_log', 'products', 'shipments'],
  host: ['db.internal', '10.0.3.17', 'redis-master.default.svc', '127.0.0.1', '::1', 'api.example.com', 'localhost', 'queue-2.eu-west-1.example'],
  port: ['5432', '3306', '6379', '443', '8080', '27017', '25', '9200'],
  path: ['/srv/app/src/cart.ts', '/usr/src/app/dist/routes/orders.js', 'C:\\app\\src\\index.ts', './lib/compass.js', '/app/node_modules/express/lib/router/index.js', 'src/auth/session.ts', '/var/lib/data/report.csv', '/app/src/token.js'],
  url: ['https://shop.example/cart?page=2', 'https://api.example.com/v1/orders/42', 'http://localhost:3000/', 'https://example.com/@anna/posts', '/search?q=red+shoes&sort=price', 'https://cdn.example/img/a.png?w=200', '/errors/42?tab=trend', 'https://docs.example/guide#install'],
  code: ['ECONNREFUSED', 'ENOENT', 'ERR_HTTP2_STREAM_ERROR', '23505', 'P2002', 'ER_DUP_ENTRY', 'ETIMEDOUT', 'ERR_MODULE_NOT_FOUND'],
  time: ['2026-03-10T12:00:00.000Z', '1763175600000', 'Tue, 10 Mar 2026 12:00:00 GMT', '12:00:01,123', '2026-03-10 12:00:00+01', '03/10/2026', '1763175600', 'PT5M'],
} // biome-ignore format: lists read best as lines

const TEMPLATES = `
Cannot read properties of undefined (reading '{field}')
Cannot set properties of null (setting '{field}')
{field} is not defined
{field} is not a function
x.map is not a function or its return value is not iterable
Cannot access '{field}' before initialization
Assignment to constant variable.
Maximum call stack size exceeded
Invalid array length
Invalid time value
Unexpected token '<', "<!DOCTYPE "... is not valid JSON
Unexpected token } in JSON at position {n}
Unexpected end of JSON input
Unexpected identifier '{word}'
Expected ',' or '}' after property value in JSON at position {n} (line 1 column {n})
Unterminated string in JSON at position {n}
Converting circular structure to JSON --> starting at object with constructor 'Socket' | property 'parser' -> object with constructor 'HTTPParser' --- property 'socket' closes the circle
Class constructor {word} cannot be invoked without 'new'
The "path" argument must be of type string. Received undefined
The "listener" argument must be of type function. Received an instance of Object
The value of "offset" is out of range. It must be >= 0 and <= {n}. Received {n}
connect {code} {host}:{port}
connect ECONNREFUSED {host}:{port}
read ECONNRESET
write EPIPE
getaddrinfo ENOTFOUND {host}
getaddrinfo EAI_AGAIN {host}
listen EADDRINUSE: address already in use :::{port}
ENOENT: no such file or directory, open '{path}'
EACCES: permission denied, mkdir '{path}'
EMFILE: too many open files, watch '{path}'
EISDIR: illegal operation on a directory, read
ENOSPC: no space left on device, write
Cannot find module '{path}' imported from {path}
Cannot find package 'express' imported from {path}
Error [ERR_MODULE_NOT_FOUND]: Cannot find module '{path}'
[ERR_HTTP_HEADERS_SENT]: Cannot set headers after they are sent to the client
ERR_STREAM_PREMATURE_CLOSE: Premature close
The operation was aborted due to timeout
This operation was aborted
fetch failed
Request failed with status code {n}
timeout of {n}ms exceeded
socket hang up
Client network socket disconnected before secure TLS connection was established
unable to verify the first certificate
self-signed certificate in certificate chain
certificate has expired
Hostname/IP does not match certificate's altnames: Host: {host}. is not in the cert's altnames: DNS:*.example.com
Parse Error: Expected HTTP/
Headers Timeout Error
Body Timeout Error
duplicate key value violates unique constraint "orders_{field}_key"
insert or update on table "{table}" violates foreign key constraint "fk_{field}"
null value in column "{field}" of relation "{table}" violates not-null constraint
column "{field}" does not exist
relation "{table}" does not exist
syntax error at or near "{word}"
invalid input syntax for type uuid: "{word}"
invalid input syntax for type integer: "{name}"
value too long for type character varying(255)
deadlock detected
canceling statement due to statement timeout
terminating connection due to administrator command
Connection terminated unexpectedly
sorry, too many clients already
remaining connection slots are reserved for non-replication superuser connections
could not serialize access due to concurrent update
Key (id)=({n}) is not present in table "{table}".
Key (email)=({mail}) already exists.
password authentication failed for user "shop"
no pg_hba.conf entry for host "{host}", user "shop", database "shop", no encryption
role "shop" does not exist
database "shop" does not exist
ER_DUP_ENTRY: Duplicate entry '{id}' for key '{table}.PRIMARY'
ER_NO_SUCH_TABLE: Table 'shop.{table}' doesn't exist
ER_BAD_FIELD_ERROR: Unknown column '{field}' in 'field list'
ER_LOCK_DEADLOCK: Deadlock found when trying to get lock; try restarting transaction
Access denied for user 'shop'@'{host}' (using password: YES)
Access denied for user 'shop'@'{host}' (using password: NO)
Lost connection to MySQL server during query
Data truncated for column '{field}' at row {n}
Incorrect integer value: '{name}' for column 'quantity' at row {n}
SQLITE_CONSTRAINT: UNIQUE constraint failed: {table}.{field}
SQLITE_BUSY: database is locked
E11000 duplicate key error collection: shop.{table} index: {field}_1 dup key: { {field}: "{id}" }
MongoServerSelectionError: connection timed out
Server selection timed out after {n} ms
Cast to ObjectId failed for value "{word}" (type string) at path "_id" for model "Order"
Validation failed: {field}: Path ${'`'}{field}${'`'} is required.
Invalid ${'`'}prisma.order.create()${'`'} invocation: Unique constraint failed on the fields: (${'`'}{field}${'`'})
Record to update not found.
ReplyError: WRONGTYPE Operation against a key holding the wrong kind of value
NOAUTH Authentication required.
READONLY You can't write against a read only replica.
MaxRetriesPerRequestError: Reached the max retries per request limit (which is {n}).
Missing lock for job {n}. moveToFinished
job stalled more than allowable limit
Queue order-mails is paused
[ { "code": "invalid_type", "expected": "string", "received": "undefined", "path": [ "{field}" ], "message": "Required" } ]
[{"code":"too_small","minimum":{n},"type":"string","inclusive":true,"path":["{field}"],"message":"String must contain at least {n} character(s)"}]
[{"code":"unrecognized_keys","keys":["{field}"],"path":[],"message":"Unrecognized key(s) in object: '{field}'"}]
Invalid type: Expected number but received "{name}"
"{field}" is required
"{field}" length must be at least {n} characters long
must have required property '{field}'
{field} must be a string, {field} should not be empty
Invalid email: {mail}
Not Found: {url}
Cannot GET {url}
Route GET:{url} not found
No route matches {url}
Forbidden resource
Unauthorized
Unauthorized: sign in first
jwt expired
jwt malformed
invalid signature
JsonWebTokenError: jwt must be provided
TokenExpiredError: jwt expired at {time}
invalid token
invalid csrf token
Bearer token missing
Basic authentication required
Missing Authorization header
No authorization token was found
session expired, please sign in again
Your session has timed out
The password is too short
Password must contain at least {n} characters
password: must be at least {n} characters long
password: is required
Passwords do not match
Wrong password
Forgot your password?
Reset your password within {n} minutes
A new password was sent to {mail}
option --password is required
unknown option '--token-file'
secret not found
secrets "shop-config" not found
The API key is invalid
API key expired
You exceeded your current quota, please check your plan and billing details.
Rate limit reached for requests per minute: limit {n}, used {n}
This model's maximum context length is {n} tokens. However, your messages resulted in {n} tokens.
{"usage":{"prompt_tokens":{n},"completion_tokens":{n},"total_tokens":{n}}}
max_tokens: {n}, temperature: 0.2
tokenCount={n} token_type=bearer expires_in=3600
token_type: Bearer
tokens used: {n}
is_password_set=true has_token=false
session_count={n} sessionDuration={n}
auth_method=oauth2 auth_provider=github
card_type: visa, card_brand: visa
Card declined: insufficient funds
Your card was declined.
No such customer: '{id}'
Payment of {n} EUR for order {id} failed
Order {id} not found
User {id} not found
user {mail} not found
Cart {id} is empty
Item {n} of order {id} is out of stock
Shipping to {name} failed: address incomplete
Invoice {n} could not be rendered
Coupon SPRING2026 has expired
Unknown currency "{word}"
Cannot ship order {id}: weight {n} kg exceeds the limit of {n} kg
Could not parse date "{time}"
Worker {n} exited with code {n} and signal null
Process exited with code: {n}
Command failed: git rev-parse HEAD
Command failed: npm run build -- --mode production --port {port}
Command failed: docker run -u 1000:1000 -p {port}:{port} shop:{sha}
Command failed: ffmpeg -i {path} -vf scale=320:-1 out.mp4
Command failed: curl -sSf {url}
Command failed: rsync -avz {path} {host}:/srv
spawn git ENOENT
Build failed at commit {sha}
Deployed {sha} at {time}
HEAD is now at {sha}
Image digest {sha}
etag: W/"{sha}"
integrity sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg== mismatch
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
trace id {id} span 00f067aa0ba902b7
traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
x-request-id: {id}
request {id} took {n} ms
level=info msg="request completed" method=GET path={url} status=200 duration={n}ms
level=error ts={time} caller=cart.go:{n} msg="order failed" order={id} err="{code}"
{"level":30,"time":1763175600000,"pid":{n},"hostname":"{host}","msg":"request completed","responseTime":{n}}
{"level":"error","message":"order failed","orderId":"{id}","code":"{code}","user":{"id":"{id}","name":"{name}"}}
{"id":"{id}","items":[{"sku":"A-{n}","quantity":{n},"price":19.9}],"note":"please ring twice"}
{"author":"{name}","title":"The {word}","keywords":["{word}","{word}"],"published_at":"{time}"}
{"primary_key":"{id}","foreign_key":{n},"sort_key":"{word}","cache_key":"cart:{id}"}
{"name":"color","value":"red"},{"name":"size","value":"{n}"}
{"key":"theme","value":"dark"}
{"name":"{field}","value":"{name}"}
{ name: '{field}', value: '{name}' }
[["color","red"],["size","{n}"]]
["id","{field}","created_at"]
missing fields: "email", "password", "name"
required: ['username', 'password', 'email']
{ "status": "error", "code": "{code}", "path": "{url}" }
<order><id>{n}</id><name>{name}</name></order>
<input name="{field}" value="{name}">
<div class="card"><h2>{name}</h2></div>
<b>password</b>
name={name}&quantity={n}&page=2
GET {url} 404 {n} ms
POST {url} 500
GET /reset/password 200
GET /verify/email 200
GET /invite/{n} 404
GET /confirm/order-{n} 302
GET /share/summer-sale-2026 200
GET /tokens/list 200
GET /users/{n}/sessions 200
GET /orders?code=404&page=2
GET /vouchers?code=SPRING2026
GET /countries?code=DE
GET https://user.example/profile/@{word}
GET https://packages.example/@scope/pkg/-/pkg-1.0.{n}.tgz
redirect to https://shop.example/?next=%2Fcart%3Fpage%3D2
select * from {table} where id = $1 and state in ('open', 'paid')
select "id", "{field}" from "{table}" where "user_id" = ? order by "created_at" desc limit {n}
insert into {table} (id, {field}) values ($1, $2) returning id
insert into {table} (name, quantity) values ('{word}', {n})
update {table} set {field} = '{word}', updated_at = now() where id = {n}
update users set password = $1 where id = $2
select id from users where token = ? and expires_at > now()
insert into users (name, password) values ($1, $2)
delete from {table} where created_at < '{time}'
alter table {table} add column {field} varchar(255) not null default ''
SELECT 1 -- token of the user
at {field} ({path}:{n}:{n})
at async Promise.all (index {n})
at Object.<anonymous> ({path}:{n}:{n})
at process.processTicksAndRejections (node:internal/process/task_queues:105:5)
at Layer.handle [as handle_request] ({path}:{n}:{n})
at Auth.login (webpack://auth/./src/session.ts:{n}:{n})
at login (/srv/shop/src/token.js:{n}:{n})
{field}@https://shop.example/assets/index-4f3a9c1b.js:1:{n}
Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.{n} Safari/537.36
Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1
curl/8.5.{n}
Googlebot/2.1 (+http://www.google.com/bot.html)
node:internal/modules/cjs/loader:{n}
Listening on http://{host}:{port}
Connected to {host}:{port} in {n} ms
Reconnecting to postgres://{host}:{port}/shop
redis://{host}:{port}/0 is not reachable
mongodb://{host}:{port}/shop did not answer
Cache miss for cart:{id}
cache key cart:{id}:items
Published {n} messages to topic orders.created
Consumer group shop-workers: partition {n}, offset {n}
Heap out of memory: {n} MB used
FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory
Event loop lag of {n} ms
Memory: rss={n}MB heapUsed={n}MB
(node:{n}) [DEP0040] DeprecationWarning: The ${'`'}punycode${'`'} module is deprecated.
(node:{n}) MaxListenersExceededWarning: Possible EventEmitter memory leak detected. 11 close listeners added to [Socket].
Warning: Each child in a list should have a unique "key" prop.
Hydration failed because the server rendered HTML didn't match the client.
ResizeObserver loop completed with undelivered notifications.
ChunkLoadError: Loading chunk {n} failed. (error: {url})
Failed to fetch dynamically imported module: {url}
Script error.
NetworkError when attempting to fetch resource.
QuotaExceededError: The quota has been exceeded.
NotAllowedError: play() failed because the user didn't interact with the document first.
The keyboard shortcut {word} is taken
{word}: unknown command
The {word} of {name} arrived at {time}
Das Dokument {n} konnte nicht gespeichert werden: {code}
Der Benutzer {name} wurde nicht gefunden
Das Passwort ist zu kurz
La commande {id} est introuvable
Le mot de passe est incorrect
No se encontró el pedido {id}
La contraseña es demasiado corta
O pedido {id} não foi encontrado
Заказ {n} не найден
Неверный пароль
订单 {n} 不存在
密码错误
注文 {n} が見つかりません
주문 {n}을 찾을 수 없습니다
auth: user {name} signed in
session: connection closed after {n} ms
AuthService: connecting to {host}
[auth] retry {n} of {n}
author: {name}, passengers: {n}
Shop::Auth::Session failed
step 3/{n}: RUN npm ci --omit=dev
v1.{n}.0-rc.1+{sha}
ratio 0.{n}1111111111
position {n}:{n}, size {n}x{n}
color: #c0ffee; width: {n}px
Phone +49 89 {n} is invalid
ISBN 978-3-16-148410-0 not found
IP {host} blocked after {n} attempts
MAC 00:1a:2b:3c:4d:5e joined
Latency p95={n}ms p99={n}ms
feature flag new-checkout: on for {n} %
Translation missing: de.checkout.{field}
Invalid enum value. Expected 'open' | 'paid', received '{word}'
Template {path} has no block "{word}"
Could not resolve dependency: peer react@"^18" from {word}@1.{n}.0
npm ERR! code ERESOLVE
warning: LF will be replaced by CRLF in {path}
Signature {word} does not match the template
Upload of {path} ({n} bytes) failed
S3 object reports/{time}/{id}.csv missing
arn:aws:s3:::shop-reports/{id}.csv
arn:aws:lambda:eu-west-1:123456789012:function:{word}
projects/shop-prod/topics/orders
Pod shop-7d4b9c6f5-x2x9k restarted {n} times
container shop exited ({n})
`
  .trim()
  .split('\n')

const PER_TEMPLATE = 8

/** Messages, log lines, frames, payloads, URLs and statements without secrets. */
export function ordinaryTexts(): string[] {
  const texts = TEMPLATES.flatMap((template, t) =>
    Array.from({ length: template.includes('{') ? PER_TEMPLATE : 1 }, (_, i) => {
      let next = i + t
      return template.replace(/\{(\w+)\}/g, (part, kind: string) => {
        const values = VALUES[kind]
        return values ? (values[next++ % values.length] ?? '') : part
      })
    }),
  )
  return [...new Set([...texts, ...Array.from({ length: PAYLOADS }, (_, i) => payload(i))])]
}

const PAYLOADS = 600

/** Request bodies, log entries, queries, settings and lists with varying values. */
function payload(i: number): string {
  const pick = (kind: string, step = 1) => VALUES[kind]?.[(i * step + Math.floor(i / 8)) % 8] ?? ''
  switch (i % 6) {
    case 0:
      return JSON.stringify({
        ...{ id: i, author: pick('name'), email: pick('mail'), key: `item-${i}`, tokenCount: i, token_type: 'bearer' },
        ...{ items: [{ sku: `A-${i}`, quantity: i % 7 }], created_at: pick('time', 3), is_password_set: i % 2 === 0 },
      })
    case 1:
      return `level=info ts=${pick('time')} order=${i} user=${pick('id', 3)} url=${pick('url')} code=${pick('code')} took=${i}ms`
    case 2:
      return `${pick('url')}${pick('url').includes('?') ? '&' : '?'}order=${i}&${pick('field')}=${pick('word', 3)}&utm_source=mail`
    case 3:
      return `{ id: ${i}, ${pick('field')}: '${pick('word', 3)}', path: '${pick('path', 5)}', usage: { prompt_tokens: ${i} } }`
    case 4:
      return `select * from ${pick('table')} where ${pick('field', 3)} = '${pick('word')}' and id = ${i}`
    default:
      return `order: ${i}\nname: ${pick('name')}\nhost: ${pick('host', 3)}\ncommit: ${pick('sha')}\nstatus: open`
  }
}

/** Keys whose values are shown. */
export const ORDINARY_KEYS = [
  'compass', 'bypass', 'passenger', 'passengers', 'passport_country', 'passed', 'passive', 'author', 'authority', 'authored_by', 'key', 'keys', 'monkey', 'turkey', 'keyboard',
  'primary_key', 'foreignKey', 'sort_key', 'cacheKey', 'routing_key', 'public_key', 'idempotency_key', 'token_type', 'tokenType', 'tokenCount', 'token_count', 'max_tokens',
  'prompt_tokens', 'completionTokens', 'total_tokens', 'tokenizer', 'tokenized', 'is_password_set', 'has_password', 'passwordStrength', 'password_changed_at', 'passwordRequired',
  'secretary', 'session_count', 'sessionDuration', 'auth_method', 'authProvider', 'card_brand', 'cardType', 'discard', 'postcard', 'dashboard', 'pinned', 'shipping', 'opinion',
  'code', 'status_code', 'country_code', 'zip_code', 'error_code', 'promo_code', 'barcode', 'name', 'username', 'email', 'user_id', 'id', 'url', 'path', 'hash', 'state', 'value',
  'link', 'number', 'phone_number', 'order_number', 'signature', 'answer', 'boardingPass', 'renderPass', 'obsession', 'inside', 'credit', 'security_level',
] // biome-ignore format: a word list reads best as lines of words
