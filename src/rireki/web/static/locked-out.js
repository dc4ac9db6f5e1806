// A stream that ended may have been ended: whoever is not let in any more keeps no page open.

/** Whether the server says so. While it does not answer, nobody is locked out. */
export async function isLockedOut() {
  const asked = fetch("/api/v1/health", { method: "HEAD" });
  const answer = await asked.catch(/** @returns {null} */ () => null);
  return answer?.status === 401;
}
