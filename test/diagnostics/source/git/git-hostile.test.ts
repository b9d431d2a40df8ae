import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { fileInCommit, resolveCommit } from '../../../../src/diagnostics/source/git/commit-files.js'
import { findRepository } from '../../../../src/diagnostics/source/git/repository.js'
import { describeWithGit, freshRepository, repositoryAt, type TestRepository } from '../../../support/repository.js'
import { temporaryFolder } from '../../../support/tracker.js'
import { gitContext, lineHistory, sourceAt } from './git-context.js'

/** Creates a program that leaves a file when it runs. */
function trap() {
  const folder = realpathSync(temporaryFolder())
  const program = join(folder, 'trap.sh')
  writeFileSync(program, `#!/bin/sh\necho "$1" >> '${folder}/sprung'\nexit 1\n`)
  chmodSync(program, 0o755)
  return { program, sprung: () => (existsSync(`${folder}/sprung`) ? readFileSync(`${folder}/sprung`, 'utf8') : '') }
}

describeWithGit('a hostile repository', () => {
  test('a hostile repository cannot run programs through its configuration or attributes', async () => {
    const { program, sprung } = trap()
    const repository = freshRepository()
    repository.write('a.js', 'a()\nb()\n')
    repository.write('.gitattributes', '* filter=evil diff=evil\n')
    const first = repository.commit('One')
    repository.write('a.js', 'a()\nc()\n')
    repository.commit('Two')
    const settings = {
      'filter.evil.clean': 'clean', 'filter.evil.smudge': 'smudge', 'filter.evil.process': 'process',
      'diff.evil.textconv': 'textconv', 'diff.evil.command': 'command', 'diff.external': 'external',
      'core.fsmonitor': 'fsmonitor', 'core.pager': 'pager', 'pager.blame': 'pager', 'core.sshCommand': 'ssh',
      'core.askPass': 'askpass', 'core.editor': 'editor', 'credential.helper': 'helper', 'gpg.program': 'gpg',
      'alias.blame': 'alias', 'core.gitProxy': 'proxy', 'core.alternateRefsCommand': 'alternate',
    } // biome-ignore format: a word list reads best as lines of words
    for (const [name, word] of Object.entries(settings)) {
      repository.git('config', name, `${name.startsWith('alias') ? '!' : ''}${program} ${word}`)
    }
    repository.git('config', 'log.showSignature', 'true')
    const hooks = join(repository.folder, 'hooks')
    mkdirSync(hooks)
    for (const hook of ['post-checkout', 'post-index-change', 'fsmonitor-watchman', 'reference-transaction']) {
      symlinkSync(program, join(hooks, hook))
    }
    repository.git('config', 'core.hooksPath', hooks)
    // Changed, so that the working copy is compared.
    writeFileSync(join(repository.folder, 'a.js'), 'new()\na()\nc()\n')
    const { context } = gitContext(repository.folder)
    expect((await lineHistory(context, { file: 'a.js', line_number: 3 })).history?.change?.summary).toBe('Two')
    expect(
      (await lineHistory(context, { file: 'a.js', line_number: 2, git_sha: first })).history?.change?.summary,
    ).toBe('One')
    expect((await sourceAt(context, { file: 'a.js', line_number: 2, git_sha: first }, first))?.lines[1]).toBe('b()')
    expect(sprung()).toBe('')
  })

  test('a hostile repository cannot cause a fetch from a partial clone', async () => {
    const { program, sprung } = trap()
    const origin = freshRepository()
    origin.write('a.js', 'a()\n')
    origin.commit('One')
    origin.git('config', 'uploadpack.allowFilter', 'true')
    for (const remote of [null, `ext::${program} ext`]) {
      const folder = join(realpathSync(temporaryFolder()), 'partial')
      origin.git('clone', '--quiet', '--no-checkout', '--filter=blob:none', `file://${origin.folder}`, folder)
      const clone = repositoryAt(folder)
      clone.write('a.js', 'a()\n')
      clone.git('config', 'remote.origin.uploadpack', `${program} uploadpack`)
      clone.git('config', 'protocol.ext.allow', 'always')
      if (remote) clone.git('config', 'remote.origin.url', remote)
      expect((await lineHistory(gitContext(folder).context, { file: 'a.js' })).history?.change ?? null).toBeNull()
    }
    expect(sprung()).toBe('')
  })

  test('a hostile repository cannot redirect to another folder by core.worktree or environment variables', async () => {
    const other = freshRepository()
    other.write('a.js', 'SECRET\n')
    other.commit('Other')
    const repository = freshRepository()
    repository.write('a.js', 'a()\n')
    repository.commit('Own')
    vi.stubEnv('GIT_DIR', join(other.folder, '.git'))
    vi.stubEnv('GIT_WORK_TREE', other.folder)
    vi.stubEnv('GIT_TRACE', join(repository.folder, 'trace'))
    vi.stubEnv('GIT_EXEC_PATH', '/nowhere')
    const own = await lineHistory(gitContext(repository.folder).context, { file: 'a.js' })
    vi.unstubAllEnvs()
    expect(own.history?.change?.summary).toBe('Own')
    expect(existsSync(join(repository.folder, 'trace'))).toBe(false)
    repository.git('config', 'core.worktree', other.folder)
    expect(
      (await lineHistory(gitContext(repository.folder).context, { file: 'a.js' })).history?.change ?? null,
    ).toBeNull()
  })
})

describeWithGit('a hostile frame', () => {
  const parent = mkdtempSync(join(tmpdir(), 'faultboard-test-'))
  let repository: TestRepository
  let first: string

  beforeAll(() => {
    repository = freshRepository(parent)
    const { folder, write } = repository
    for (const name of ['.env.js', 'src/secrets.js', 'id_rsa', 'node_modules/a/index.js', '.git-like/x.js', 'a.json'])
      write(name, 'SECRET\n')
    write('plain.js', 'plain()\n')
    write('key.js', '-----BEGIN PRIVATE KEY-----\n')
    write('huge.js', 'x\n'.repeat(600_000))
    symlinkSync('/etc/passwd', join(folder, 'passwd.js'))
    symlinkSync('.env.js', join(folder, 'innocent.js'))
    symlinkSync('src', join(folder, 'linked'))
    symlinkSync('/etc', join(folder, 'etc'))
    first = repository.commit('Everything')
    for (const name of ['passwd.js', 'innocent.js', 'linked', 'etc', '.env.js', 'src/secrets.js']) {
      repository.git('rm', '--quiet', '--cached', name)
      repository.git('clean', '--quiet', '-fd', '--', name)
    }
    repository.commit('Clean up')
  })
  afterAll(() => rmSync(parent, { recursive: true, force: true }))

  /** All tests share a read-only repository, each with a new tracker context. */
  const secrets = () => ({ folder: repository.folder, first, ...gitContext(repository.folder) })

  test('a hostile frame cannot read a file of an older commit that is not readable on disk', async () => {
    const { context, folder, first } = secrets()
    const names = [
      '.env.js', 'src/secrets.js', 'id_rsa', 'node_modules/a/index.js', '.git-like/x.js', 'a.json', 'key.js', 'huge.js',
      'passwd.js', 'innocent.js', 'linked/secrets.js', 'etc/passwd', 'etc/hosts.js', '../app/plain.js', 'src/../plain.js',
      `${folder}/../app/plain.js`, '/etc/passwd', 'plain.js\0', 'C:\\app\\plain.js', '..\\app\\plain.js', '/dev/zero.js',
      'file:///etc/passwd', '.git/config', '.git/hooks/x.js', '', '.', 'src',
    ] // biome-ignore format: a word list reads best as lines of words
    for (const file of names) {
      expect(await sourceAt(context, { file, git_sha: first }), file).toBeNull()
      const { history } = await lineHistory(context, { file, git_sha: first })
      // Only the content of these files is hidden, not their author.
      if (!/^(?:key|huge)/.test(file)) expect(history?.change ?? null, file).toBeNull()
    }
    expect((await sourceAt(context, { file: 'plain.js', git_sha: first }, first))?.lines).toEqual(['plain()', ''])
    expect((await sourceAt(context, { file: join(folder, 'plain.js'), git_sha: first }, first))?.commit).toBe(first)
  }, 60_000)

  test.each([
    '--output=pwned.js',
    '-L1,1.js',
    '--contents=.js',
    ':(exclude)plain.js',
    ':!plain.js',
    ':(top,glob)**.js',
    ':/plain.js',
    'new\nline.js',
    '*.js',
    '[a-z].js',
    '"quoted".js',
    "it's.js",
    '$(touch pwned).js',
    '`touch pwned`.js',
    'a;touch pwned;.js',
    'ünï.js',
  ])('reads only the file with the name %j', async (file) => {
    const repository = freshRepository()
    repository.write('plain.js', 'plain()\n')
    repository.commit('Before', { author: 'Eve <e@shop.example>' })
    const { context } = gitContext(repository.folder)
    expect((await lineHistory(context, { file })).history?.change ?? null).toBeNull()
    repository.write(file, 'odd()\n')
    const first = repository.commit('Odd')
    repository.write(file, 'odder()\n')
    repository.commit('Odder')
    const later = gitContext(repository.folder).context
    expect((await lineHistory(later, { file })).history?.change).toMatchObject({ author: 'Ada', summary: 'Odder' })
    expect((await sourceAt(later, { file, git_sha: first }, first))?.lines[0]).toBe('odd()')
    expect(repository.git('status', '--porcelain')).toBe('')
  })

  test.each([
    'HEAD',
    'main',
    'HEAD~1',
    '--upload-pack=touch pwned',
    '--output=pwned',
    'main:../../etc/passwd',
    'abcdef',
    '0123456789abcdef0123456789abcdef01234567f',
    'deadbeef^{tree}',
    'deadbeef\n--all',
    ' deadbeef',
    '@{-1}',
    ':/Fix',
    '',
  ])('a hostile frame is looked up without a commit if the commit is %j', async (git_sha) => {
    const { context, folder } = secrets()
    const repository = await findRepository(context, folder)
    expect(await resolveCommit(repository, git_sha)).toBeNull()
    expect((await lineHistory(context, { file: 'plain.js', git_sha })).history).toMatchObject({ commit: null })
    expect((await sourceAt(context, { file: 'plain.js', git_sha }))?.commit).toBeNull()
    expect(existsSync(join(folder, 'pwned'))).toBe(false)
  })

  test('a hostile frame cannot read links and folders of a commit', async () => {
    const { context, folder, first } = secrets()
    const repository = await findRepository(context, folder)
    for (const path of ['passwd.js', 'linked', 'src', 'linked/secrets.js', 'none.js', '../app/plain.js']) {
      expect(await fileInCommit(repository, first, path).catch(() => null), path).toBeNull()
    }
    expect(await fileInCommit(repository, first, 'plain.js')).toMatchObject({ size: 8 })
  })
})
