/** Told whenever a job has become pending: some runner may want it. */
export const jobsChannel = 'ci_jobs'
