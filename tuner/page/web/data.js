'use strict';
// Reads the data of the page (tuner/page/data/page_data.h). Trials are stored as columns, and configurations
// as base-64 digits.

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const digitValues = new Uint8Array(128);
[...digits].forEach((digit, value) => { digitValues[digit.charCodeAt(0)] = value; });

// What the letters of the column `state` mean.
const stateNames = {
  v: 'verified', u: 'not checked: no reference', m: 'checked once', s: 'cut short',
  L: 'limits', C: 'compile', A: 'launch', W: 'wrong', X: 'crash', T: 'timeout',
};

class Report {
  constructor(raw) {
    Object.assign(this, raw);
    const names = new Map();
    for (const each of this.templates) names.set(each.name, (names.get(each.name) || 0) + 1);
    this.templates.forEach((each, index) => {
      each.index = index;
      each.label = names.get(each.name) > 1 ? `${each.name} ${each.hash.slice(0, 6)}` : each.name;
      each.bytes = each.parameters.length * each.width;
    });
    this.problems.forEach((each, index) => {
      each.index = index;
      each.kind = [each.operation, each.type, each.layout].filter(Boolean).join(' ');
      each.text = `${each.kind} ${each.size}`;
    });
    this.count = this.trials.state.length;
    if (!this.count) return;  // without trials, there are no columns
    for (const column of ['id', 'device', 'template', 'problem', 'configuration', 'run', 'at']) {
      let sum = 0;
      this.trials[column] = this.trials[column].map((difference) => { sum += difference; return sum; });
    }
    this.byPlace = new Map();
    for (let trial = 0; trial < this.count; ++trial) {
      const key = this.place(this.trials.device[trial], this.trials.problem[trial]);
      if (!this.byPlace.has(key)) this.byPlace.set(key, []);
      this.byPlace.get(key).push(trial);
    }
    this.bestOf = new Map();
    this.launchOf = new Map(this.launches.map((each) => [each.trial, each]));
    this.decided = new Set(this.winners);
    this.winnerOf = new Map();
    for (const trial of this.winners) {
      this.winnerOf.set(this.place(this.trials.device[trial], this.trials.problem[trial]), trial);
    }
    // A problem whose finals have not run has no winner. Its fastest verified trial is shown instead.
    for (const [key, trials] of this.byPlace) {
      if (this.winnerOf.has(key)) continue;
      const best = this.fastest(trials.filter((trial) => this.isVerified(trial)));
      if (best !== undefined) this.winnerOf.set(key, best);
    }
  }

  place(device, problem) { return device * 1e6 + problem; }
  trialsOf(device, problem) { return this.byPlace.get(this.place(device, problem)) || []; }
  winner(device, problem) { return this.winnerOf.get(this.place(device, problem)); }
  isDecided(trial) { return this.decided.has(trial); }
  isMeasured(trial) { return this.trials.median[trial] > 0; }
  time(trial) { return this.trials.median[trial]; }
  // Whether a trial may win: it was verified (state `v`), or its operation has no reference (state `u`).
  isVerified(trial) { return 'vu'.includes(this.trials.state[trial]); }
  isUnchecked(trial) { return this.trials.state[trial] === 'u'; }
  template(trial) { return this.templates[this.trials.template[trial]]; }
  problem(trial) { return this.problems[this.trials.problem[trial]]; }
  device(trial) { return this.devices[this.trials.device[trial]]; }
  fastest(trials) {
    let best;
    for (const trial of trials) {
      if (this.isMeasured(trial) && (best === undefined || this.time(trial) < this.time(best))) best = trial;
    }
    return best;
  }

  // The arithmetic operations per second of a trial. Undefined if the operation does not declare its arithmetic.
  rate(trial) {
    const operations = this.problem(trial).operations;
    return operations > 0 && this.isMeasured(trial) ? operations / (this.time(trial) * 1e-6) : undefined;
  }

  // The index of a trial's value in the list of values of parameter `p`.
  valueIndex(trial, p) {
    const template = this.template(trial);
    let at = this.trials.configuration[trial] * template.bytes + p * template.width;
    let index = 0;
    for (let i = 0; i < template.width; ++i, ++at) index = index * 64 + digitValues[template.text.charCodeAt(at)];
    return index;
  }
  value(trial, p) { return this.template(trial).parameters[p].values[this.valueIndex(trial, p)]; }
  // The digits of a trial's configuration. Two trials of a template have the same digits if and only if they have the
  // same configuration.
  code(trial) {
    const template = this.template(trial);
    const at = this.trials.configuration[trial] * template.bytes;
    return template.text.slice(at, at + template.bytes);
  }
  configuration(trial) {
    return Object.fromEntries(this.template(trial).parameters.map((each, p) => [each.name, this.value(trial, p)]));
  }
  // The bytes of shared memory of a trial. They come from its launch facts or, if it has none, from the stored trial. 0
  // means unknown.
  shared(trial) { return this.launchOf.get(trial)?.shared || this.trials.shared[trial]; }
  // The resources that limit the resident blocks of a launch. Several resources may have the same limit.
  limiters({ resident, by }) { return Object.keys(by).filter((name) => by[name] === resident).join(', '); }

  // The parameters that differ from the template's defaults, as text.
  differences(trial) {
    const template = this.template(trial);
    const texts = [];
    template.parameters.forEach((each, p) => {
      const value = this.value(trial, p);
      if (value === null || (template.defaults && template.defaults[each.name] === value)) return;
      texts.push(`${each.name}=${value}`);
    });
    return texts.join(' ') || 'defaults';
  }

  // The fastest trial of each template at a problem. The fastest template comes first.
  bestByTemplate(device, problem) {
    const key = this.place(device, problem);
    if (!this.bestOf.has(key)) this.bestOf.set(key, this.foundByTemplate(this.trialsOf(device, problem)));
    return this.bestOf.get(key);
  }
  foundByTemplate(trials) {
    const best = new Map();
    for (const trial of trials) {
      if (!this.isMeasured(trial)) continue;
      const template = this.trials.template[trial];
      if (!best.has(template) || this.time(trial) < this.time(best.get(template))) best.set(template, trial);
    }
    return [...best.values()].sort((a, b) => this.time(a) - this.time(b));
  }

  // At most `count` trials: the winner of a problem, then the other trials whose launches are known, fastest first.
  leaders(device, problem, count) {
    const winner = this.winner(device, problem);
    const others = this.trialsOf(device, problem)
      .filter((trial) => trial !== winner && this.launchOf.has(trial))
      .sort((a, b) => this.time(a) - this.time(b));
    return (winner === undefined ? others : [winner, ...others]).slice(0, count);
  }
}
