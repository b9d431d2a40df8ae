/**
 * Converts a clone URL to the web URL of the repository. Removes credentials. Null if there is no web URL.
 *
 * @example
 * webAddress('git@github.com:shop/api.git') // 'https://github.com/shop/api'
 */
export function webAddress(remote: string): string | null {
  const scpLike = /^(?:[\w.-]+@([\w.-]+)|([\w-]+\.[\w.-]+)):(?!\/\/)([^\s\\]+)$/.exec(remote)
  const address = scpLike ? `ssh://${scpLike[1] ?? scpLike[2]}/${scpLike[3]}` : remote
  const match = /^(https?|ssh|git):\/\/(?:[^/@\s]*@)?([\w.-]+|\[[\da-f:]+\])(:\d+)?\/([^\s?#\\]+)/i.exec(address)
  if (!match) return null
  const [, scheme = '', host = '', port = '', path = ''] = match
  const isHttp = /^https?$/i.test(scheme)
  const origin = `${isHttp ? scheme.toLowerCase() : 'https'}://${host}${isHttp ? port : ''}`
  const name = path
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
    .replace(/^\/+/, '')
  return name === '' || !URL.canParse(`${origin}/${name}`) ? null : new URL(`${origin}/${name}`).href
}

export interface RepositoryLine {
  commit: string
  /** Path relative to the root of the repository. */
  path: string
  line: number | null
}

/** Returns the URL of a line at a commit, in the format of the Git host or of a template. */
export function fileLink(repository: string, { commit, path, line }: RepositoryLine): string {
  const file = path.split('/').map(encodeURIComponent).join('/')
  if (isTemplate(repository)) {
    const values: Record<string, string> = { commit, path: file, line: String(line ?? 1) }
    return repository.replace(/\{(commit|path|line)\}/g, (_, name: string) => values[name] ?? '')
  }
  const lineAnchor = (anchor: string) => (line === null ? '' : `#${anchor}${line}`)
  switch (hostKind(repository)) {
    case 'gitlab':
      return `${repository}/-/blob/${commit}/${file}${lineAnchor('L')}`
    case 'bitbucket':
      return `${repository}/src/${commit}/${file}${lineAnchor('lines-')}`
    case 'gitea':
      return `${repository}/src/commit/${commit}/${file}${lineAnchor('L')}`
    default:
      return `${repository}/blob/${commit}/${file}${lineAnchor('L')}`
  }
}

/** Returns the URL of a commit. Null for a template, which only describes files. */
export function commitLink(repository: string, commit: string): string | null {
  if (isTemplate(repository)) return null
  const kind = hostKind(repository)
  return `${repository}/${kind === 'gitlab' ? '-/commit' : kind === 'bitbucket' ? 'commits' : 'commit'}/${commit}`
}

export function isTemplate(repository: string): boolean {
  return repository.includes('{path}')
}

/** Detects the Git host by its domain. Unknown hosts use the URL format of GitHub. */
function hostKind(repository: string): 'github' | 'gitlab' | 'bitbucket' | 'gitea' {
  const { hostname } = new URL(repository)
  if (hostname.includes('gitlab')) return 'gitlab'
  if (hostname.includes('bitbucket')) return 'bitbucket'
  return /gitea|forgejo|codeberg/.test(hostname) ? 'gitea' : 'github'
}
