/** The order of the test files: the longest first, so that in the end no worker waits for the other's last one. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Those that start processes, clusters and browsers, or play many lives: how long they take does not show in their size. */
const LONG =
  /\/test\/(platform\/postgres|flows\/|production|lifecycle\/|cli\/(operation|embedded|remote)|views\/browser|admin\/generated|store\/races)/;

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line no-array-sort -- this is the method of another class, and changes nothing
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => Number(LONG.test(b.moduleId)) - Number(LONG.test(a.moduleId)));
  }
}
