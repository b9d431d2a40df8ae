import type { Severity } from './severity.js'

/** Input of the built-in rules. Causes have the same shape. */
export interface GradedError {
  error_type: string
  message?: string | undefined
  backtrace?: readonly string[] | undefined
  code?: string | undefined
  /** Set by mysql2 and mysql on errors that closed the connection. */
  fatal?: boolean | undefined
  causes?: readonly GradedError[] | undefined
}

/** Ordered by precedence. `network` becomes `critical` when the peer is a datastore, and `medium` otherwise. */
type Verdict = 'critical' | 'network' | 'medium' | 'high' | 'low'

/** A rule with both patterns needs both. */
interface Rule {
  verdict: Verdict
  error_type?: RegExp
  code?: RegExp
}

/** Out of memory, a full or failing disk, no file descriptors left. */
const EXHAUSTED_RESOURCES: readonly Rule[] = [
  { verdict: 'critical', error_type: /out_?of_?memory|Disk_?Full/i },
  // Case-sensitive, because a ZoomError is not an OOMError.
  { verdict: 'critical', error_type: /^OOM|(?<![A-Z])(OOM|Oom)(Error|Exception)?$/ },
  {
    verdict: 'critical',
    code: /^(ENOMEM|ERR_WORKER_OUT_OF_MEMORY|ERR_MEMORY_ALLOCATION_FAILED|ENOSPC|EDQUOT|EROFS|EIO|EMFILE|ENFILE)$/,
  },
]

/** A datastore that is unreachable, shutting down, full, damaged, out of connections, or rejects the credentials. */
const LOST_DATASTORE: readonly Rule[] = [
  {
    verdict: 'critical',
    error_type:
      /^(\w*(Database|Sequelize|Prisma|Mongo|Mongoose|Postgres|MySQL|MariaDb|Redis|Knex|TypeORM)\w*(Connection|Initialization|Network|ServerSelection|NotConnected|HostNot|AccessDenied|TopologyClosed|PoolCleared|PoolClosed|ServerClosed|RustPanic|Lost|Unavailable)\w*|KnexTimeoutError|(Mongo)?WaitQueueTimeoutError|CannotExecuteNotConnectedError|ConnectionIsNotSetError|MaxRetriesPerRequestError|ClusterAllFailedError|SocketClosedUnexpectedlyError|ClientOfflineError|ReconnectStrategyError|RootNodesUnavailableError|NoLivingConnectionsError|NoHostAvailableError)$/i,
  },
  // PostgreSQL: connection, authentication, no such database, out of resources, shutdown, I/O, damaged.
  { verdict: 'critical', code: /^(08(00[0-7]|P01)|28(000|P01)|53[0-4]00|3D000|57P0[1-5]|58030|XX00[12])$/ },
  {
    verdict: 'critical',
    code: /^(PROTOCOL_(CONNECTION_LOST|ENQUEUE_AFTER_FATAL_ERROR)|ER_(CON_COUNT_ERROR|TOO_MANY_USER_CONNECTIONS|USER_LIMIT_REACHED|ACCESS_DENIED_ERROR|DBACCESS_DENIED_ERROR|BAD_DB_ERROR|HOST_IS_BLOCKED|HOST_NOT_PRIVILEGED|SERVER_SHUTDOWN|NORMAL_SHUTDOWN|(NEW_)?ABORTING_CONNECTION|CONNECTION_KILLED|DISK_FULL|RECORD_FILE_FULL|OUT_?OF_?(MEMORY|RESOURCES|SORTMEMORY)|GET_CONNECTION_TIMEOUT|CONNECTION_TIMEOUT|SOCKET_UNEXPECTED_CLOSE))$/,
  },
  // Prisma: authentication, unreachable, no such database, TLS, closed connection, exhausted pool, too many connections.
  { verdict: 'critical', code: /^P(100[0-3]|101[017]|2024|2037)$/ },
  // SQLite, SQL Server (tedious), Oracle, Neo4j.
  { verdict: 'critical', code: /^SQLITE_(FULL|IOERR|CORRUPT|CANTOPEN|NOTADB)(_\w+)?$/ },
  { verdict: 'critical', code: /^(ELOGIN|EINSTLOOKUP|ENOTOPEN|ECONNCLOSED)$/ },
  { verdict: 'critical', error_type: /^ConnectionError$/, code: /^(ESOCKET|ETIMEOUT)$/ },
  { verdict: 'critical', code: /^(NJS-(500|503|510|511)|ORA-(01033|01034|01089|03113|03114|03135|125\d\d))$/ },
  { verdict: 'critical', error_type: /^Neo4jError$/, code: /^(ServiceUnavailable|SessionExpired)$/ },
]

/** Failed or lost connections to a peer: refused, reset or aborted connections, DNS, TLS. */
const NETWORK: readonly Rule[] = [
  {
    verdict: 'network',
    code: /^(ECONN(REFUSED|RESET|ABORTED|ECTION)|EPIPE|ETIMEDOUT|ESOCKETTIMEDOUT|ESOCKET|EDNS|ETLS|EHOST(UNREACH|DOWN)|ENET(UNREACH|DOWN|RESET)|EADDRNOTAVAIL|ENOTFOUND|EAI_\w+|ENODATA|ESERVFAIL|EREFUSED|EPROTO|CERT_\w+|\w*SELF_SIGNED_CERT\w*|UNABLE_TO_\w+|ERR_(TLS|SSL)_\w+|ERR_NETWORK|ERR_SOCKET_(CLOSED|CLOSED_BEFORE_CONNECTION|CONNECTION_TIMEOUT)|ERR_STREAM_PREMATURE_CLOSE|ERR_HTTP2_(GOAWAY_SESSION|STREAM_CANCEL|STREAM_ERROR|SESSION_ERROR|PING_CANCEL)|UND_ERR_(SOCKET|CONNECT_TIMEOUT|ABORTED|CLOSED|DESTROYED)|HPE_\w+|CONNECTION_REFUSED)$/,
  },
  {
    verdict: 'network',
    error_type: /Network(ing)?_?Error|Connection\w*(Error|Exception)$|Connection_?(Refused|Reset|Closed)/i,
  },
]

const TRANSIENT_OR_INVALID: readonly Rule[] = [
  { verdict: 'medium', error_type: /Time_?out|Timed_?Out|Deadline_?Exceeded/i },
  { verdict: 'medium', code: /Time_?out|Timed_?Out|^(57014|55P03|25P03|P1008|SQLITE_(BUSY|LOCKED)(_\w+)?)$/i },
  { verdict: 'medium', error_type: /Abort|Cancell?ed/i },
  { verdict: 'medium', code: /Abort|Cancell?ed/i },
  { verdict: 'medium', error_type: /Validation|Invalid|ZodError|ValiError|^(StructError|CastError|TraversalError)$/i },
  { verdict: 'medium', code: /^(FST_ERR_VALIDATION|ERR_VALIDATION|P2(000|005|006|007|011|012|013|019|020))$/ },
]

const PROGRAMMING_ERRORS: readonly Rule[] = [
  { verdict: 'high', error_type: /^(Type|Reference|Range|Syntax|URI|Eval)Error$|^AssertionError/ },
  // Incorrect calls that Node.js and the frameworks report as a plain Error, and missing modules.
  {
    verdict: 'high',
    code: /^(ERR_(ASSERTION|INVALID_ARG_\w+|INVALID_RETURN_\w+|HTTP2?_HEADERS_SENT|STREAM_WRITE_AFTER_END|METHOD_NOT_IMPLEMENTED|MULTIPLE_CALLBACK|(REQUIRE|MODULE)_\w+|PACKAGE_PATH_NOT_EXPORTED|UNKNOWN_FILE_EXTENSION)|MODULE_NOT_FOUND|FST_ERR_REP_ALREADY_SENT)$/,
  },
  // SQL that does not match the schema: PostgreSQL, MySQL and MariaDB, Prisma.
  { verdict: 'high', code: /^(42(601|703|P01|P02|702|803|804|883)|P202[12])$/ },
  {
    verdict: 'high',
    code: /^ER_(PARSE_ERROR|SYNTAX_ERROR|BAD_FIELD_ERROR|NO_SUCH_TABLE|BAD_TABLE_ERROR|SP_DOES_NOT_EXIST)$/,
  },
]

const RULES: readonly Rule[] = [
  ...EXHAUSTED_RESOURCES,
  ...LOST_DATASTORE,
  ...NETWORK,
  ...TRANSIENT_OR_INVALID,
  ...PROGRAMMING_ERRORS,
]

/** Failures identifiable only by their message. Anchored, because every error without a verdict is compared with them. */
const CRITICAL_MESSAGES =
  /^(Array buffer allocation failed|database or disk is full|disk I\/O error|database disk image is malformed|file is not a database|unable to open database file|Connection terminated (unexpectedly|due to connection timeout)|timeout exceeded when trying to connect|Client has encountered a connection error|Can't add new command when connection is in closed state|Knex: Timeout acquiring a connection|Operation `[^`]+` buffering timed out|OOM command not allowed|MISCONF |LOADING \w+ is loading|MASTERDOWN |CLUSTERDOWN |READONLY You can't write|NOAUTH |WRONGPASS )/
const NETWORK_MESSAGES =
  /^(fetch failed|Failed to fetch|NetworkError when attempting to fetch resource|Load failed|socket hang up|Connection is closed\.|Connection terminated|timeout expired|14 UNAVAILABLE)/
const MEDIUM_MESSAGES = /^(database is locked|Query read timeout|4 DEADLINE_EXCEEDED)/

/** Packages whose failed connections mean a lost datastore. */
const DATASTORE_FRAME =
  /[\\/]node_modules[\\/](pg|pg-pool|pg-protocol|pg-native|postgres|mysql|mysql2|mariadb|mongodb|mongoose|redis|ioredis|@redis[\\/][\w-]+|tedious|mssql|oracledb|cassandra-driver|neo4j-driver|@elastic[\\/]\w+|@opensearch-project[\\/]\w+|memcached|memjs|knex|tarn|sequelize|typeorm|drizzle-orm|kysely|@mikro-orm[\\/]\w+|@prisma[\\/][\w-]+|@neondatabase[\\/]\w+|@planetscale[\\/]\w+|@libsql[\\/]\w+)[\\/]/

/**
 * The default ports of PostgreSQL, PgBouncer, MySQL, Redis, MongoDB, SQL Server, Oracle, Cassandra and memcached. Node.js
 * reports a refused connection without any frame of the driver.
 */
const DATASTORE_PORT = /^connect E[A-Z]+ .*:(543\d|6432|330[6-9]|33060|63[78]\d|26379|2701[789]|1433|1521|9042|11211)\b/

/** Severity by type name, error code, driver and causes. The first matching rule in the whole chain wins. */
export function builtInSeverity(error: GradedError): Severity {
  const verdict = chainVerdict(error, false)
  return verdict === 'network' ? 'medium' : verdict
}

const PRECEDENCE: readonly Verdict[] = ['critical', 'network', 'medium', 'high', 'low']

function chainVerdict(error: GradedError, isWrappedByDriver: boolean): Verdict {
  const { causes } = error
  let verdict = ownVerdict(error)
  if (verdict === 'critical') return verdict
  const hasCauses = causes !== undefined && causes.length > 0
  // Only a failed connection can mean a lost datastore, so no other stack is read.
  const isDriverError = isWrappedByDriver || ((verdict === 'network' || hasCauses) && isDatastoreFailure(error))
  if (verdict === 'network' && isDriverError) return 'critical'
  if (!hasCauses) return verdict
  // A bare `fetch failed` is as severe as its cause.
  if (verdict === 'network' && error.error_type === 'TypeError') verdict = 'high'
  for (const cause of causes) {
    const causeVerdict = chainVerdict(cause, isDriverError)
    if (causeVerdict === 'critical') return causeVerdict
    if (PRECEDENCE.indexOf(causeVerdict) < PRECEDENCE.indexOf(verdict)) verdict = causeVerdict
  }
  return verdict
}

function ownVerdict({ error_type, code, message = '' }: GradedError): Verdict {
  const verdict = ruleVerdict(error_type, code)
  if (verdict === 'critical' || verdict === 'network') return verdict
  if (CRITICAL_MESSAGES.test(message)) return 'critical'
  if (NETWORK_MESSAGES.test(message)) return 'network'
  return verdict !== 'medium' && MEDIUM_MESSAGES.test(message) ? 'medium' : verdict
}

const MAX_CACHED_VERDICTS = 2000
const cachedVerdicts = new Map<string, Verdict>()

/** Caches the verdict by type and code. An application has few types and codes, and every capture needs a verdict. */
function ruleVerdict(errorType: string, code: string | undefined): Verdict {
  const key = code === undefined ? errorType : `${errorType}\n${code}`
  const cached = cachedVerdicts.get(key)
  if (cached !== undefined) return cached
  const verdict = RULES.find((rule) => matchesRule(rule, errorType, code))?.verdict ?? 'low'
  if (cachedVerdicts.size >= MAX_CACHED_VERDICTS) cachedVerdicts.clear()
  cachedVerdicts.set(key, verdict)
  return verdict
}

/** OpenTelemetry and some clients report the code as the type. */
function matchesRule(rule: Rule, errorType: string, code = errorType): boolean {
  return (rule.error_type?.test(errorType) ?? true) && (rule.code?.test(code) ?? true)
}

/** Checks the `fatal` flag of mysql2, the first frame outside Node.js, and the port. */
function isDatastoreFailure({ fatal, backtrace = [], message = '' }: GradedError): boolean {
  if (fatal === true) return true
  const firstFrame = backtrace.find((line) => !line.includes('node:') && !line.endsWith('<anonymous>)'))
  return (firstFrame !== undefined && DATASTORE_FRAME.test(firstFrame)) || DATASTORE_PORT.test(message)
}
