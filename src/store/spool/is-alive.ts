/** Whether a process of this machine runs. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // A process of another user exists, though we may not signal it.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
