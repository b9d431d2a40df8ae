/**
 * URL of a script without parts that vary by visit or device. Omits the query, which can contain anything: an inline
 * script has the URL of its page.
 */
export function scriptPath(path: string): string {
  const bundle = /(?:^|[/\\])((?:main|index)[\w.-]{0,40}\.(?:jsbundle|bundle|hbc))(?=[?#/]|$)/.exec(path)?.[1]
  // The folder of an installed app contains an id, and a bundler that serves it adds options after the name.
  if (bundle) return bundle
  if (path.startsWith('blob:')) return path.replace(/\/[^/]{0,100}$/, '')
  if (path.startsWith('data:')) return 'data:'
  return path.replace(/[?#].*$/, '')
}
