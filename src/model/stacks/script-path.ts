/**
 * The address of a script without what differs from one visit or device to the next, and without its query, which may
 * hold anything: an inline script has the address of its page.
 */
export function scriptPath(path: string): string {
  const bundle = /(?:^|[/\\])((?:main|index)[\w.-]{0,40}\.(?:jsbundle|bundle|hbc))(?=[?#/]|$)/.exec(path)?.[1]
  // The folder of an installed app has an id in it; a bundler that serves it writes its options behind the name.
  if (bundle) return bundle
  if (path.startsWith('blob:')) return path.replace(/\/[^/]{0,100}$/, '')
  if (path.startsWith('data:')) return 'data:'
  return path.replace(/[?#].*$/, '')
}
